package demo_test

import (
	"context"
	"testing"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/demo"
	"heapdrift/internal/embedded"
	"heapdrift/internal/intake"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/worker"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// The demo goes through the real pipeline and its reports say what its table of sites says; loading it twice changes nothing.
func TestDemo(t *testing.T) {
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
	node, err := queue.New(s, (&worker.Worker{Store: s, Blobs: blobs}).Handlers(), queue.Options{RedisURL: "redis://" + redis.Addr(), Poll: 50 * time.Millisecond, FreshBroker: true})
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
	in := &intake.Intake{Store: s, Blobs: blobs}
	first, err := demo.Load(t.Context(), in, s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := demo.Load(t.Context(), in, s); err != nil || again != first {
		t.Errorf("loaded again: %s, %v; first %s", again, err, first)
	}
	settle(t, s)
	builds, err := s.BuildsOf(t.Context(), demo.Project)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		build, status string
		growth        int64 // bytes: blocks that were added times their size
	}{
		{"4812", "inconclusive", 5*1130*0x180 + 5*1130*0x68 + 1536*0x240},
		{"4811", "no-leak", 0},
		{"4810", "inconclusive", 5 * 12 * 0x900},
		{"4809", "inconclusive", 5 * 12 * 0x900},
	} {
		run := builds[i].Runs[0]
		summary, err := s.Summary(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if builds[i].Name != want.build || run.Status != want.status || summary.Totals.Heap.Growth.Bytes != want.growth || run.Evidence != 6 {
			t.Errorf("build %s: %s, growth %d, %d files; want %+v", builds[i].Name, run.Status, summary.Totals.Heap.Growth.Bytes, run.Evidence, want)
		}
	}
	top, total, err := s.Sites(t.Context(), store.SiteQuery{Run: builds[0].Runs[0].ID, Limit: 1})
	if err != nil || total != 8 || top[0].Blame != "shopd!Receipt::AppendLine" || top[0].Place != "receipt.cpp:118" {
		t.Errorf("%+v of %d, %v", top, total, err)
	}
}

// settle waits until no run has work left.
func settle(t *testing.T, s *store.Store) {
	t.Helper()
	for range 600 {
		builds, err := s.BuildsOf(t.Context(), demo.Project)
		if err != nil {
			t.Fatal(err)
		}
		pending := 0
		for _, b := range builds {
			pending += b.Runs[0].Pending
		}
		if pending == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the demo's jobs do not end")
}
