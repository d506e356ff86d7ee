package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/hibiken/asynq"

	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/store"
)

// brokerOnly is a node with a broker, and no database.
func brokerOnly(t *testing.T) *Node {
	t.Helper()
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	n, err := New(nil, nil, Options{RedisURL: "redis://" + broker.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(n.client.Close(), n.inspector.Close(), n.probe.Close()) })
	return n
}

// waiting lists the tasks that wait at the broker, by queue.
func waiting(t *testing.T, n *Node) (tasks []string) {
	t.Helper()
	for _, queue := range []string{lightQueue, heavyQueue} {
		list, err := n.inspector.ListPendingTasks(queue)
		if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
			t.Fatal(err)
		}
		for _, task := range list {
			tasks = append(tasks, queue+" "+task.ID)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// A job waits once at the broker, among those of its class, however often it is handed over; another attempt waits
// beside it.
func TestJobsWaitOnceAtTheBroker(t *testing.T) {
	n := brokerOnly(t)
	for range 3 {
		for _, job := range []store.DueJob{{ID: 7}, {ID: 8, Heavy: true}, {ID: 7, Attempt: 1}} {
			if err := n.hand(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := waiting(t, n), []string{"heavy job-8-0", "light job-7-0", "light job-7-1"}; !slices.Equal(got, want) {
		t.Errorf("%q wait, want %q", got, want)
	}
}

// A task that a worker took, and died with, before it claimed the job does not keep the job from being handed over
// again.
func TestJobOfALostTask(t *testing.T) {
	n := brokerOnly(t)
	job := store.DueJob{ID: 7}
	taken, goOn := make(chan struct{}), make(chan struct{})
	server := asynq.NewServer(n.redis, asynq.Config{Concurrency: 1, Queues: map[string]int{lightQueue: 1}, LogLevel: asynq.FatalLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		close(taken)
		<-goOn
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	defer close(goOn)
	if err := n.hand(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	<-taken
	if err := n.hand(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if got := waiting(t, n); len(got) != 1 || got[0] == "light job-7-0" {
		t.Errorf("%q wait", got)
	}
}

// A broker that takes nothing is an error of the hand-over, and of the node's health.
func TestBrokerThatIsAway(t *testing.T) {
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(nil, nil, Options{RedisURL: "redis://" + broker.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Ping(t.Context()); err != nil {
		t.Errorf("a broker that answers: %v", err)
	}
	broker.Stop()
	if n.Ping(t.Context()) == nil || n.hand(t.Context(), store.DueJob{ID: 7}) == nil {
		t.Error("a broker that is away takes jobs")
	}
	_ = errors.Join(n.client.Close(), n.inspector.Close(), n.probe.Close()) // the broker is gone
}

// Twice as many jobs as run at once may wait at the broker, and a few where no worker is known.
func TestJobsThatMayWait(t *testing.T) {
	for _, test := range []struct {
		light, heavy int // slots of workers
		want         DispatchLimit
	}{
		{0, 0, DispatchLimit{Light: 4, Heavy: 2}}, {2, 1, DispatchLimit{Light: 4, Heavy: 2}},
		{3, 2, DispatchLimit{Light: 6, Heavy: 4}},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			n := brokerOnly(t)
			for queue, slots := range map[string]int{lightQueue: test.light, heavyQueue: test.heavy} {
				if slots == 0 {
					continue
				}
				server := asynq.NewServer(n.redis, asynq.Config{Concurrency: slots, Queues: map[string]int{queue: 1}, LogLevel: asynq.FatalLevel})
				if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(server.Shutdown)
			}
			await.Until(t, "all workers", func() bool { // they announce themselves
				servers, err := n.inspector.Servers()
				return err == nil && len(servers) == min(test.light, 1)+min(test.heavy, 1)
			})
			if got := n.room(); got != test.want {
				t.Errorf("%+v may wait, want %+v", got, test.want)
			}
		})
	}
}

// What users read of a failure is the handler's sentence; of any other error the worker and a number by which an
// operator finds the text.
func TestFailureForUsers(t *testing.T) {
	n := &Node{host: "w2", opt: Options{Version: "1.2.3"}}
	lease := store.Lease{Job: store.Job{ID: 4711}}
	known := &Error{Code: "no-heap", Message: "there is no heap", Final: true, Cause: "the header"}
	for _, err := range []error{known, fmt.Errorf("read: %w", known)} {
		if f := n.failure(err, lease); f.Code != "no-heap" || f.Message != "there is no heap" || !f.Final || f.Cause != "the header" {
			t.Errorf("%v: %+v", err, f)
		}
	}
	want := store.Failure{Code: "internal", Version: "1.2.3", Worker: "w2", PID: os.Getpid(), Cause: "password of the database",
		Message: fmt.Sprintf("Internal error in worker w2 (PID %d). Retry, or send this ID to your administrator: job-4711", os.Getpid())}
	if f := n.failure(errors.New("password of the database"), lease); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}
