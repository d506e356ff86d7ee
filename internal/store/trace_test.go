package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/migrations"
)

// traced is a capture of a trace with n sites, of every kind of memory.
func traced(n int) *capture.Capture {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	usage := func() allocations.Usage {
		return allocations.Usage{Count: rng.Int64N(1000), Bytes: rng.Int64N(1 << 30)}
	}
	c := &capture.Capture{
		Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: "app.exe", PID: 7, Bits: 64},
		Snapshots: make([]capture.Snapshot, 2),
		Heaps:     []capture.Heap{{Handle: 0x1000}, {Handle: 0x2000}},
		Trace: &capture.Trace{To: 30e9, Window: capture.Window{To: 30e9}, Began: allocations.BeforeTrace,
			Exited: allocations.Never, Events: 99},
	}
	for i := range n {
		s := capture.Site{Heap: int32(i % 2), Kind: capture.SiteKind(i % 3), Usage: make([]capture.Usage, 2)}
		if s.Kind != capture.KindHeap {
			s.Heap = capture.NoHeap
		}
		s.Stack = c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Module: "app",
			Function: fmt.Sprintf("F%d", i)}, 0)})
		s.Life = &capture.Life{Number: uint32(3*i + 1), Peak: allocations.Peak{Usage: usage(), At: rng.Int64()},
			Usage: allocations.WindowUsage{
				AIFO: usage(), AIFI: usage(), AOFO: usage(), AOFI: usage(), AtExit: usage(), UnknownFrees: rng.Int64N(9),
			}}
		c.Sites = append(c.Sites, s)
	}
	return c
}

// analysedTrace brings a run to the report of a trace.
func analysedTrace(t testing.TB, s *store.Store, r *analysis.Report) int64 {
	t.Helper()
	e := addEvidence(t, s, target, "a.etl")
	table := store.AllocationTable{Key: "table", Bytes: 77, Sites: 3 * len(r.Sites)}
	if err := s.CreateCaptures(t.Context(), claim(t, s),
		[]store.StoredCapture{{Capture: traced(1), ArtifactKey: "art", Bytes: 5, Table: table}}); err != nil {
		t.Fatal(err)
	}
	name(t, s, claim(t, s), "names")
	in := input(t, s, e.RunID)
	if got := in.Captures[0]; got.Table != table || len(got.Files) != 1 || got.Files[0].Name != "a.etl" {
		t.Errorf("%+v", got)
	}
	if err := s.UpdateResult(t.Context(), claim(t, s),
		store.Result{Report: r, ReportKey: "rep", Revision: in.Revision, Table: table}); err != nil {
		t.Fatal(err)
	}
	return e.RunID
}

func TestSitesOfTrace(t *testing.T) {
	s, _ := open(t)
	r := report(t, traced(60))
	run := analysedTrace(t, s, r)
	all := must[[]store.SiteRow](t)(sites(t, s, store.SiteQuery{RunID: run, Limit: 100}))
	if len(all) != 60 {
		t.Fatalf("%d sites", len(all))
	}
	for i, row := range all {
		want := &r.Sites[i]
		want.HeldAtExit = nil // it follows from the others, and rows have none
		if !reflect.DeepEqual(row.Life, want.Lifetimes) || !slices.Equal(row.TableSites, want.TableSites) || row.Kind != want.Kind {
			t.Errorf("site %d: %+v %v, want %+v %v", i, row.Life, row.TableSites, want.Lifetimes, want.TableSites)
		}
	}
	for order, of := range map[store.SiteOrder]func(*analysis.Lifetimes) int64{
		"size":      func(l *analysis.Lifetimes) int64 { return l.Allocated.Bytes },
		"allocs":    func(l *analysis.Lifetimes) int64 { return l.Allocated.Count },
		"transient": func(l *analysis.Lifetimes) int64 { return l.AIFI.Bytes },
		"peak":      func(l *analysis.Lifetimes) int64 { return l.Peak.Bytes },
	} {
		if !store.ValidSiteOrder(order) {
			t.Errorf("no order %q", order)
		}
		sorted := must[[]store.SiteRow](t)(sites(t, s, store.SiteQuery{RunID: run, Order: order, Limit: 100}))
		if !slices.IsSortedFunc(sorted, func(a, b store.SiteRow) int { return cmp.Compare(of(b.Life), of(a.Life)) }) ||
			len(sorted) != 60 {
			t.Errorf("by %s the sites are not in order", order)
		}
	}
	virtual := store.SiteQuery{RunID: run, Kind: "virtual", Limit: 7}
	page, total, err := storetest.Now(t, s).ListSites(t.Context(), virtual)
	if err != nil || total != 20 || len(page) != 7 ||
		slices.ContainsFunc(page, func(r store.SiteRow) bool { return r.Kind != "virtual" }) {
		t.Errorf("virtual memory: %d of %d, %v", len(page), total, err)
	}
	ordinals := must[[]int](t)(storetest.Now(t, s).ListSiteOrdinals(t.Context(), virtual))
	if len(ordinals) != 20 || !slices.IsSorted(ordinals) {
		t.Errorf("ordinals %v", ordinals)
	}
	chosen := must[[]store.SiteRow](t)(sites(t, s, store.SiteQuery{RunID: run, Ordinals: []int{41, 3, 17}, Limit: 50}))
	if len(chosen) != 3 || chosen[0].Ordinal != 3 || chosen[2].Ordinal != 41 {
		t.Errorf("%d chosen sites", len(chosen))
	}
	if none := must[[]store.SiteRow](t)(sites(t, s,
		store.SiteQuery{RunID: run, Ordinals: []int{}, Limit: 50})); len(none) != 0 {
		t.Errorf("%d sites of none", len(none))
	}
}

func sites(t testing.TB, s *store.Store, q store.SiteQuery) ([]store.SiteRow, error) {
	t.Helper()
	page, _, err := storetest.Now(t, s).ListSites(t.Context(), q)
	return page, err
}

func TestTraceOfRun(t *testing.T) {
	s, _ := open(t)
	r := report(t, traced(12))
	run := analysedTrace(t, s, r)
	key, table, err := storetest.Now(t, s).FindTraceReport(t.Context(), run)
	if want := (store.AllocationTable{Key: "table", Bytes: 77, Sites: 36}); err != nil || key != "rep" || table != want {
		t.Errorf("%q %+v %v", key, table, err)
	}
	trace := must[*store.RunTrace](t)(storetest.Now(t, s).FindRunTrace(t.Context(), run))
	if trace.ReportKey != key || trace.Table != table || trace.Summary.Trace == nil || trace.Summary.Trace.ToNS != 30e9 ||
		len(trace.Sites) != 12 {
		t.Errorf("%+v", trace)
	}
	for i, site := range trace.Sites {
		if want := r.Sites[i]; site.Ordinal != i || site.Kind != want.Kind || site.Heap != want.Heap ||
			!slices.Equal(site.TableSites, want.TableSites) {
			t.Errorf("site %d: %+v, want %+v", i, site, want.TableSites)
		}
	}
	for _, run := range []int64{0, 999} {
		if _, _, err := storetest.Now(t, s).FindTraceReport(t.Context(), run); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if _, err := storetest.Now(t, s).FindRunTrace(t.Context(), run); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}

func TestRunsWithoutTrace(t *testing.T) {
	s, _ := open(t)
	snapshots := analysed(t, s, report(t, snapshot(2, 0)))
	if _, table, err := storetest.Now(t, s).FindTraceReport(t.Context(), snapshots); err != nil ||
		table != (store.AllocationTable{}) {
		t.Error(table, err)
	}
	fresh := addEvidence(t, s, leaks.UploadTarget{Project: "demo", Build: "101"}, "b.etl").RunID
	if _, _, err := storetest.Now(t, s).FindTraceReport(t.Context(), fresh); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if _, err := storetest.Now(t, s).FindRunTrace(t.Context(), fresh); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// A tracer is a reader of traces that runs its jobs step by step.
type tracer struct {
	*testing.T
	store *store.Store
	conn  *pgx.Conn
	run   int64
	ids   map[string]int64
}

func (r *tracer) add(names ...string) {
	r.Helper()
	t := target
	if err := t.Normalize(); err != nil {
		r.Fatal(err)
	}
	for _, name := range names {
		e := must[store.Evidence](r)(r.store.CreateEvidence(r.Context(), t,
			store.Evidence{Name: name, SHA256: name, Kind: "etl"}))
		r.run, r.ids[name] = e.RunID, e.ID
	}
}

// claim takes the job that reads a file.
func (r *tracer) claim(name string) store.Lease {
	r.Helper()
	must[[]store.DueJob](r)(r.store.DispatchAllJobs(r.Context(), time.Hour))
	for _, job := range must[[]store.Job](r)(storetest.Now(r, r.store).ListJobs(r.Context(), r.run)) {
		if job.Kind == store.JobRead && job.State == "queued" && *job.EvidenceID == r.ids[name] {
			return must[store.Lease](r)(r.store.ClaimJob(r.Context(), job.ID, time.Minute))
		}
	}
	r.Fatalf("no job reads %s", name)
	return store.Lease{}
}

// save ends a job with a capture of the files that it has read.
func (r *tracer) save(l store.Lease, names ...string) {
	r.Helper()
	var ids []int64
	for _, name := range names {
		ids = append(ids, r.ids[name])
	}
	c := store.StoredCapture{Capture: traced(1), ArtifactKey: strings.Join(names, "+")}
	if err := r.store.CreateCaptures(r.Context(), l, []store.StoredCapture{c}, ids...); err != nil {
		r.Fatal(err)
	}
}

// want checks the captures, as the files they were read from and the files they are stored for, and the queued jobs.
func (r *tracer) want(captures string, queued ...string) {
	r.Helper()
	var got []string
	for _, c := range input(r, r.store, r.run).Captures {
		var files []string
		for _, f := range c.Files {
			files = append(files, f.Name)
		}
		got = append(got, c.ArtifactKey+"="+strings.Join(files, "+"))
	}
	if s := strings.Join(got, " "); s != captures {
		r.Errorf("captures %q, want %q", s, captures)
	}
	var reads []string
	for _, job := range must[[]store.Job](r)(storetest.Now(r, r.store).ListJobs(r.Context(), r.run)) {
		for name, id := range r.ids {
			if job.State == "queued" && job.EvidenceID != nil && *job.EvidenceID == id {
				reads = append(reads, name)
			}
		}
	}
	if !slices.Equal(reads, queued) {
		r.Errorf("queued reads %v, want %v", reads, queued)
	}
}

func TestFilesOfOneTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for what, do := range map[string]func(r *tracer){
		"each sees all, one after the other": func(r *tracer) {
			r.add("a", "b")
			first := r.claim("a")
			r.save(first, "a", "b")
			r.want("a+b=a+b", "b")
			r.save(r.claim("b"), "a", "b")
			r.want("a+b=a+b")
		},
		"the second file comes later": func(r *tracer) {
			r.add("a")
			r.save(r.claim("a"), "a")
			r.want("a=a")
			r.add("b")
			r.save(r.claim("b"), "a", "b")
			r.want("a+b=a+b")
		},
		"the read of one file ends behind that of both": func(r *tracer) {
			r.add("a")
			slow := r.claim("a")
			r.add("b")
			r.save(r.claim("b"), "b", "a")
			r.save(slow, "a")
			r.want("b+a=a+b")
		},
		"a file of another boot stays apart": func(r *tracer) {
			r.add("a", "other", "b")
			r.save(r.claim("other"), "other")
			r.save(r.claim("a"), "a", "b")
			r.save(r.claim("b"), "a", "b")
			r.want("other=other a+b=a+b")
		},
		"two reads overlap, and the third sees all": func(r *tracer) {
			r.add("b", "c")
			left := r.claim("c")
			r.add("a")
			r.save(r.claim("b"), "a", "b")
			r.save(left, "b", "c")
			r.want("b+c=b+c", "a")
			r.save(r.claim("a"), "a", "b", "c")
			r.want("a+b+c=a+b+c")
		},
		"half of a trace that was none is one with the other half": func(r *tracer) {
			r.add("kernel")
			if err := r.store.FailJob(r.Context(), r.claim("kernel"),
				store.Failure{Code: "no-memory-events", Final: true}); err != nil {
				r.Fatal(err)
			}
			r.add("heap")
			heap := must[store.Evidence](r)(storetest.Now(r, r.store).FindEvidence(r.Context(), r.ids["heap"]))
			files, done, err := storetest.Now(r, r.store).ListTraceFiles(r.Context(), heap)
			if err != nil || done || len(files) != 2 || files[0].Name != "heap" || files[1].State != "failed" {
				r.Error(files, done, err)
			}
			r.save(r.claim("heap"), "kernel", "heap")
			r.want("kernel+heap=heap+kernel")
			kernel := must[store.Evidence](r)(storetest.Now(r, r.store).FindEvidence(r.Context(), r.ids["kernel"]))
			if _, done, err := storetest.Now(r, r.store).ListTraceFiles(r.Context(), kernel); err != nil || !done ||
				kernel.State != "read" || kernel.Error != "" || *kernel.ReadWith != heap.ID {
				r.Error(kernel, done, err)
			}
		},
		"a job that fails behind the read of its file changes nothing": func(r *tracer) {
			r.add("a", "b")
			slow := r.claim("a")
			r.save(r.claim("b"), "a", "b")
			if err := r.store.FailJob(r.Context(), slow, store.Failure{Code: "x", Final: true}); err != nil {
				r.Fatal(err)
			}
			if e := must[store.Evidence](r)(storetest.Now(r, r.store).FindEvidence(r.Context(),
				r.ids["a"])); e.State != "read" || e.ErrorCode != "" {
				r.Error(e)
			}
			r.want("a+b=a+b")
		},
		"what a job found read is replaced before it ends": func(r *tracer) {
			r.add("a", "b")
			r.save(r.claim("a"), "a", "b")
			idle := r.claim("b")
			r.add("c")
			r.save(r.claim("c"), "c", "a")
			if err := r.store.CreateCaptures(r.Context(), idle, nil, r.ids["a"], r.ids["b"]); err == nil {
				r.Error("nothing is stored in the place of captures")
			}
			r.want("c+a=a+c")
			r.save(idle, "a", "b", "c") // its lease is still good
			r.want("a+b+c=a+b+c")
		},
		"files that cannot be told apart are given up": func(r *tracer) {
			r.add("a", "b", "c")
			r.save(r.claim("a"), "a", "b")
			r.save(r.claim("b"), "b", "c")
			for _, next := range slices.Repeat([]string{"a", "c"}, 20) {
				state := must[store.Evidence](r)(storetest.Now(r, r.store).FindEvidence(r.Context(), r.ids[next])).State
				if state == "failed" {
					return
				}
				r.save(r.claim(next), next, "b")
			}
			r.Error("they take each other's place for ever")
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, conn := open(t)
			do(&tracer{T: t, store: s, conn: conn, ids: map[string]int64{}})
		})
	}
}

// The migration of traces can be taken back with data in the database, and made again.
func TestTracesMigrationDownAndUp(t *testing.T) {
	s, conn := open(t)
	run := analysedTrace(t, s, report(t, traced(4)))
	var up, down [2]string // the later one refers to its columns
	for i, name := range []string{"00003_traces.sql", "00036_life_cycle.sql"} {
		up[i], down[i], _ = strings.Cut(string(must[[]byte](t)(migrations.FS.ReadFile(name))), "-- +goose Down")
	}
	for _, sql := range []string{down[1], down[0], up[0], up[1]} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := sites(t, s, store.SiteQuery{RunID: run, Limit: 9}); err != nil || len(rows) != 4 || rows[0].Life != nil {
		t.Error(rows, err)
	}
}
