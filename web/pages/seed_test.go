package pages_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// A sample is one site of the process that tests show: its stack, innermost first, and its blocks at each snapshot.
type sample struct {
	heap    int32
	size    int64
	stack   []string
	aliases [][]string
	blocks  func(k int) int64
}

func always(n int64) func(int) int64 { return func(int) int64 { return n } }
func rising(start, step int64) func(int) int64 {
	return func(k int) int64 { return start + step*int64(k) }
}

var (
	allocate = []string{"ntdll!RtlpAllocateHeapInternal+0xa1c", "ntdll!RtlAllocateHeap+0x2f4",
		"ucrtbase!_malloc_base+0x36"}
	newed   = append(append([]string{}, allocate...), "shopd!operator new+0x1f")
	thread  = []string{"kernel32!BaseThreadInitThunk+0x1d", "ntdll!RtlUserThreadStart+0x28"}
	request = append([]string{`shopd!Http::Worker::Serve+0x21c@c:\src\shopd\http\worker.cpp:142`,
		`shopd!Http::Worker::Run+0x4a@c:\src\shopd\http\worker.cpp:88`}, thread...)
	start = append([]string{`shopd!main+0x132@c:\src\shopd\main.cpp:61`,
		"shopd!__scrt_common_main_seh+0xfa"}, thread...)
)

// hostile is a function name that tries to be markup.
const hostile = `<script>alert("x")</script>&amp;'"`

func join(parts ...[]string) (all []string) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// shop is a process with a leak, a cache, steady memory, and stacks of every kind that the pages show.
var shop = []sample{
	{0, 384, join(newed,
		[]string{`shopd!Shop::Orders::Receipts::Receipt::AppendLine+0xc4@c:\src\shopd\order\receipt.cpp:118`,
			`shopd!Shop::Orders::Order::Commit+0x1d2@c:\src\shopd\order\order.cpp:207`}, request), nil, rising(140, 565)},
	{0, 104, join(allocate, []string{"ucrtbase!_wcsdup+0x20", `audit!AuditLog::Note+0x3b@c:\src\audit\audit_log.cpp:29`,
		`shopd!Shop::Orders::Order::Commit+0x210@c:\src\shopd\order\order.cpp:213`}, request), nil, rising(140, 565)},
	{0, 2304, join(newed, []string{`shopd!SearchIndex::Rebuild+0x166@c:\src\shopd\search\search_index.cpp:74`,
		`shopd!Scheduler::Tick+0x5d@c:\src\shopd\scheduler.cpp:46`}, thread), nil, rising(3, 6)},
	{0, 576, join(newed, []string{`shopd!std::make_unique<Session,std::basic_string<char,std::char_traits<char>>>+0x1c`,
		`shopd!SessionCache::Add+0x7b@c:\src\shopd\session\session_cache.cpp:58`}, request), nil,
		func(k int) int64 { return min(2048, 512+256*int64(k)) }},
	{0, 16384, join(newed, []string{`shopd!Catalog::Preload+0x6e@c:\src\shopd\catalog\catalog.cpp:93`}, start), nil,
		always(96)},
	{1, 4096, join(newed, []string{`shopd!Net::BufferPool::Acquire+0x52@c:\src\shopd\net\buffer_pool.cpp:40`}, request),
		nil, always(64)},
	{0, 88, join(newed, []string{`shopd!Config::Load+0xa1@c:\src\shopd\config.cpp:37`}, start), nil, always(412)},
	{0, 48, join(allocate, []string{`shopd!Log::Rotate+0x44@c:\src\shopd\log.cpp:71`}, start), nil,
		func(k int) int64 { return 70 - 7*int64(k/2) }},
	{0, 32, join(newed, []string{"shopd!std::_Tree<std::pair<int const ,std::basic_string<char>>>::_Insert+0x29",
		"shopd!Metrics::`anonymous namespace'::Register+0x17@c:\\src\\shopd\\metrics.cpp:22"}, start), nil, always(188)},
	{1, 24, join(allocate, []string{"plugin+0x2a40", "plugin+0x1177"}, thread), nil, rising(9, 20)},
	{0, 16, join(allocate, []string{"shopd!" + hostile + "+0x1"}, thread), nil, always(5)},
	{0, 64, join(newed, []string{`shopd!Xml::Node::Clone+0x10@c:\src\shopd\xml.cpp:9`}, thread),
		[][]string{join(newed, []string{`shopd!Json::Node::Clone+0x12@c:\src\shopd\json.cpp:11`}, thread)}, rising(20, 1)},
	{0, 40, nil, nil, always(33)},
}

// capturesOf is what a reader makes of the process, one capture for each of n snapshots five minutes apart.
func capturesOf(samples []sample, n int) []*capture.Capture {
	list := make([]*capture.Capture, n)
	for k := range list {
		c := &capture.Capture{
			Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "shopd.exe", PID: 4242, Bits: 64},
			Snapshots: []capture.Snapshot{{TakenAt: time.Date(2025, 3, 6, 9, 5*k, 0, 0, time.UTC)}},
			Heaps:     []capture.Heap{{Handle: 0x1d147000000}, {Handle: 0x1d148a20000}},
			Modules: []capture.Module{
				{Path: `C:\Shop\shopd.exe`, Base: 0x7ff65480000, Size: 0x2a6000, Symbols: capture.SymbolsPrivate, PDB: "shopd.pdb"},
				{Path: `C:\Shop\audit.dll`, Base: 0x7ff70000000, Size: 0x31000, Symbols: capture.SymbolsPublic},
				{Path: `C:\Shop\plugin.dll`, Base: 0x7ff71000000, Size: 0x9000, Symbols: capture.SymbolsNone, PDB: "plugin.pdb",
					DebugID: "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C21"},
				{Path: `C:\Windows\System32\ntdll.dll`, Base: 0x7ffa0000000, Size: 0x1f0000, Symbols: capture.SymbolsPublic},
			},
		}
		for i, s := range samples {
			site := capture.Site{Heap: s.heap, Trace: uint64(0x2001 + i),
				Usage: []capture.Usage{{Count: s.blocks(k), Bytes: s.blocks(k) * s.size}}}
			site.Stack = addStack(c, s.stack)
			for _, alias := range s.aliases {
				site.Aliases = append(site.Aliases, addStack(c, alias))
			}
			c.Sites = append(c.Sites, site)
			for b := range s.blocks(k) { // blocks keep their addresses
				c.Blocks.Add(capture.Block{Site: uint32(i), Address: uint64(i+1)<<32 + uint64(b)<<16, Size: uint64(s.size)})
			}
		}
		list[k] = c
	}
	return list
}

// addStack interns frames written as module!function+0xoffset@file:line or module+0xoffset.
func addStack(c *capture.Capture, frames []string) capture.StackID {
	ids := make([]capture.FrameID, len(frames))
	for i, f := range frames {
		ids[i] = c.Stacks.AddText(parseFrame(f), 0)
	}
	return c.Stacks.AddStack(ids)
}

func parseFrame(s string) capture.FrameText {
	var t capture.FrameText
	if at := lastIndex(s, '@'); at >= 0 {
		place := s[at+1:]
		colon := lastIndex(place, ':')
		t.File = place[:colon]
		_, _ = fmt.Sscan(place[colon+1:], &t.Line)
		s = s[:at]
	}
	plus := lastIndex(s, '+')
	_, _ = fmt.Sscanf(s[plus:], "+0x%x", &t.Offset)
	t.Module = s[:plus]
	for i := range t.Module {
		if t.Module[i] == '!' {
			t.Module, t.Function = t.Module[:i], t.Module[i+1:]
			break
		}
	}
	return t
}

func lastIndex(s string, b byte) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == b {
			return i
		}
	}
	return -1
}

// must is for steps whose failure a test is not about.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// addEvidence records a file without reading it.
func addEvidence(t testing.TB, s *store.Store, to leaks.Target, name string) store.Evidence {
	t.Helper()
	if err := to.Normalize(); err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(name))) // the digest of no file: nothing is read
	return must[store.Evidence](t)(s.CreateEvidence(t.Context(), to,
		store.Evidence{Name: name, SHA256: digest, Bytes: 1_234_567, Kind: "umdh"}))
}

// claim takes the next job of a kind.
func claim(t testing.TB, s *store.Store, kind string, run int64) store.Lease {
	t.Helper()
	return claims(t, s, kind, run, 1)[0]
}

// claims takes the next n jobs of a kind, the oldest first.
func claims(t testing.TB, s *store.Store, kind string, run int64, n int) (leases []store.Lease) {
	t.Helper()
	_ = must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), 0))
	for _, j := range must[[]store.Job](t)(storetest.Now(t, s).ListJobs(t.Context(), run)) {
		if j.Kind == kind && j.State == "queued" && len(leases) < n {
			leases = append(leases, must[store.Lease](t)(s.ClaimJob(t.Context(), j.ID, time.Minute)))
		}
	}
	if len(leases) < n {
		t.Fatalf("run %d has %d of %d jobs to %s", run, len(leases), n, kind)
	}
	return leases
}

// addRun stores a run with its report and returns the run's id. edit changes the report before it is stored.
func addRun(t testing.TB, s *store.Store, to leaks.Target, captures []*capture.Capture,
	edit ...func(*analysis.Report)) int64 {
	t.Helper()
	var run int64
	var inputs []analysis.Input
	for k, c := range captures {
		name := fmt.Sprintf("shopd-%d.log", k+1)
		e := addEvidence(t, s, to, name)
		run = e.RunID
		inputs = append(inputs, analysis.Input{Files: []analysis.File{{Name: name, SHA256: e.SHA256, Bytes: e.Bytes}},
			Captures: []*capture.Capture{c}})
	}
	for k, lease := range claims(t, s, store.JobRead, run, len(captures)) {
		if err := s.CreateCaptures(t.Context(), lease,
			[]store.StoredCapture{{Capture: captures[k], Artifact: "artifact", Bytes: 5}}); err != nil {
			t.Fatal(err)
		}
	}
	r := must[*analysis.Report](t)(analysis.Analyze(t.Context(), inputs, analysis.Options{}))
	for _, change := range edit {
		change(r)
	}
	saveReport(t, s, run, r)
	return run
}

// saveReport does the jobs that follow reading: no names are found, and the report is the given one.
func saveReport(t testing.TB, s *store.Store, run int64, r *analysis.Report) {
	t.Helper()
	saveNames(t, s, run)
	in := must[store.Input](t)(storetest.Now(t, s).FindInput(t.Context(), run))
	key := "report"
	if blobs, ok := blobsOf.Load(s); ok {
		key = putReport(t, blobs.(blob.Store), r)
	}
	if err := s.UpdateResult(t.Context(), claim(t, s, store.JobAnalyse, run),
		store.Result{Report: r, Key: key, Revision: in.Revision}); err != nil {
		t.Fatal(err)
	}
}

// blobsOf holds the blob stores of the tests' servers, by database store.
var blobsOf sync.Map

// putReport stores a report as a worker does, and returns its key.
func putReport(t testing.TB, blobs blob.Store, r *analysis.Report) string {
	t.Helper()
	var packed bytes.Buffer
	z := must[*zstd.Encoder](t)(zstd.NewWriter(&packed))
	if err := errors.Join(r.WriteJSON(z), z.Close()); err != nil {
		t.Fatal(err)
	}
	digest := must[blob.Digest](t)(blob.PutContent(t.Context(), blobs, &packed))
	return blob.ContentKey(digest.SHA256)
}

// replaceReport stores another report of a run.
func replaceReport(t testing.TB, s *store.Store, run int64, r *analysis.Report) {
	t.Helper()
	if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	saveNames(t, s, run)
	in := must[store.Input](t)(storetest.Now(t, s).FindInput(t.Context(), run))
	if err := s.UpdateResult(t.Context(), claim(t, s, store.JobAnalyse, run),
		store.Result{Report: r, Key: "another-report", Revision: in.Revision}); err != nil {
		t.Fatal(err)
	}
}

// saveNames ends the job that looks for a run's symbols.
func saveNames(t testing.TB, s *store.Store, run int64) {
	t.Helper()
	lease := claim(t, s, store.JobSymbolise, run)
	naming := must[store.Naming](t)(s.BeginNaming(t.Context(), run))
	if err := s.UpdateNames(t.Context(), lease, naming, "names"); err != nil {
		t.Fatal(err)
	}
}
