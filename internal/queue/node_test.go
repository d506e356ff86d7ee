package queue_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

// A journal is a log that goroutines write and a test reads.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func startBroker(t *testing.T) string {
	t.Helper()
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	return "redis://" + broker.Addr()
}

// A node is listed while it works, and not after Run has returned. Of work that goes well it writes no warning.
func TestNodeIsListedWhileItWorks(t *testing.T) {
	s := openStore(t)
	var log journal
	opt := fast(startBroker(t))
	opt.Role, opt.Version, opt.Concurrency = "work", "1.2.3", 3
	opt.Lease = time.Minute // renewing is not what is asked here
	opt.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	stop := start(t, s, working(s, func(*queue.Job) {}), opt)
	listed := func() []store.NodeRecord {
		list, err := storetest.Now(t, s).ListNodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	await.Until(t, "the node in the list", func() bool { return len(listed()) == 1 })
	if n := listed()[0]; n.Role != "work" || n.Version != "1.2.3" || n.Slots != 4 || n.Says != "" || n.Host == "" ||
		n.SchemaVersion != store.KnownSchema() {
		t.Errorf("%+v", n)
	}
	e := addEvidence(t, s, "quiet")
	await.Until(t, "the report", analysed(t, s, e.RunID))
	stop()
	if list := listed(); len(list) != 0 {
		t.Errorf("stopped, and listed: %+v", list)
	}
	if log.String() != "" {
		t.Errorf("it warns: %s", strings.TrimSpace(log.String()))
	}
}

// Also a node that only hands jobs over, and has no job to wait for, is out of the list when Run returns.
func TestNodeWithoutJobsLeavesTheList(t *testing.T) {
	s := openStore(t)
	stop := start(t, s, nil, fast(startBroker(t)))
	listed := func() int {
		list, err := storetest.Now(t, s).ListNodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	await.Until(t, "the node in the list", func() bool { return listed() == 1 })
	if stop(); listed() != 0 {
		t.Error("stopped, and listed")
	}
}

// A node whose broker starts empty hands over at once what another broker has lost; others wait for the time to resend.
func TestFreshBrokerIsHandedAllJobs(t *testing.T) {
	s := openStore(t)
	e := addEvidence(t, s, "lost")
	if due, err := s.DispatchAllJobs(t.Context(), time.Hour); err != nil || len(due) != 1 { // to a broker that is gone
		t.Fatalf("%+v, %v", due, err)
	}
	opt := fast(startBroker(t))
	opt.Resend = time.Hour
	stop := start(t, s, working(s, func(*queue.Job) {}), opt)
	later := addEvidence(t, s, "later")
	await.Until(t, "the job that was not handed over before", analysed(t, s, later.RunID))
	stop()
	if job := jobs(t, s, e.RunID)[0]; job.State != "queued" {
		t.Errorf("handed over again before its time: %+v", job)
	}
	opt.FreshBroker = true
	start(t, s, working(s, func(*queue.Job) {}), opt)
	await.Until(t, "the lost job", analysed(t, s, e.RunID))
}
