// Package workertest runs what is behind the server's door for tests of other packages: a store on a database of the
// test's own, blobs in its folder, a broker in the process, and a worker.
package workertest

import (
	"context"
	"maps"
	"testing"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/blob"
	"heapdrift/internal/embedded"
	"heapdrift/internal/intake"
	"heapdrift/internal/queue"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
	"heapdrift/internal/testdb"
	"heapdrift/worker"
	"heapdrift/worker/task"
)

// A Pipeline accepts evidence and works on it until the test ends.
type Pipeline struct {
	Store  *store.Store
	Blobs  blob.Store
	Intake *intake.Intake
	Node   *queue.Node
}

// runner does the tasks of workers in processes of their own, where Main has been called.
var runner *sandbox.Runner

// Main is the TestMain of a package whose workers read evidence as those of a server do: in processes of their own, but
// for the race detector. change changes the tasks that these know.
func Main(m *testing.M, change ...func(map[string]sandbox.Task)) {
	tasks := task.Sandboxed()
	maps.Copy(tasks, intake.Sandboxed())
	for _, c := range change {
		c(tasks)
	}
	sandbox.Main(tasks)
	if sandbox.Supported && apartFor {
		runner = &sandbox.Runner{}
	}
	testdb.Main(m, store.Migrate)
}

// Runner runs the tasks of workers in processes of their own; nil where they run in this one.
func Runner() *sandbox.Runner { return runner }

// Start runs a pipeline. The package's TestMain must call Main or testdb.Main.
func Start(t testing.TB) *Pipeline {
	t.Helper()
	return StartWith(t, nil)
}

// StartWith is Start with a worker that looks for symbols along a path.
func StartWith(t testing.TB, path symbols.Library) *Pipeline {
	t.Helper()
	return start(t, path, runner)
}

// StartInChildProcess is Start with a worker that reads evidence in child processes of the given runner.
func StartInChildProcess(t testing.TB, readers *sandbox.Runner) *Pipeline {
	t.Helper()
	return start(t, nil, readers)
}

func start(t testing.TB, path symbols.Library, readers *sandbox.Runner) *Pipeline {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Stop)
	node, err := queue.New(s, (&worker.Worker{Store: s, Blobs: blobs, Symbols: path, Sandbox: readers}).Handlers(),
		queue.Options{RedisURL: "redis://" + redis.Addr(), Poll: 30 * time.Millisecond, FreshBroker: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &Pipeline{s, blobs, &intake.Intake{Store: s, Blobs: blobs, Sandbox: runner}, node}
}

// AwaitSettled waits until no job of a run is waiting or running, and returns the run.
func (p *Pipeline) AwaitSettled(t testing.TB, id int64) (run store.Run) {
	t.Helper()
	await.Until(t, "the jobs of the run to end", func() bool {
		var err error
		run, err = store.Read(t.Context(), p.Store, func(v store.View) (store.Run, error) {
			return v.FindRun(t.Context(), id)
		})
		if err != nil {
			t.Fatal(err)
		}
		return run.PendingJobs == 0
	})
	return run
}
