package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag/debugdiagtest"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols"
)

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A labRun is the part of a run of the lab's truth that a dump of it needs.
type labRun struct {
	Name    string
	PID     uint32
	Modules []struct {
		Name, Path, Base, PDB, GUID string
		Size, Age                   uint32
	}
	Stacks []struct {
		Role   string
		Prefix []struct {
			Module string
			RVA    uint64
		} `json:"umdh_prefix"`
		Frames []struct {
			Module string
			RVA    uint64
		}
	}
}

// labDump is a dump of a run of the lab: a fabricated heap whose blocks have the stacks of the run, and the number of
// blocks of each stack.
func labDump(t *testing.T, name string) (data []byte, run labRun, counts []int) {
	t.Helper()
	text, err := os.ReadFile(corpus.Path(t, "lab", "A", "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct{ Runs []labRun }
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	for _, run = range truth.Runs {
		if run.Name == name {
			break
		}
	}
	bases := map[string]uint64{}
	var modules []minidumptest.Module
	for _, m := range run.Modules {
		base, err := strconv.ParseUint(m.Base, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		bases[m.Name] = base
		modules = append(modules,
			minidumptest.Module{Path: m.Path, Base: base, Size: m.Size, PDB: m.PDB, GUID: guid(t, m.GUID), Age: m.Age})
	}
	var stacks [][]uint64
	for _, s := range run.Stacks[:5] {
		var stack []uint64
		for _, f := range append(s.Prefix, s.Frames...) {
			stack = append(stack, bases[f.Module]+f.RVA)
		}
		stacks = append(stacks, stack)
	}
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 2, Stacks: true, Heaps: 1,
		Segments: 2, Blocks: 400})
	counts = dumptest.Retrace(p, stacks)
	d := dumptest.Of(p, dumptest.Program{PID: run.PID})
	d.Modules = append(modules, d.Modules...)
	return d.Bytes(), run, counts
}

// guid is a GUID as a file stores it, from its text as debuggers print it.
func guid(t *testing.T, text string) (g [16]byte) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 {
		t.Fatalf("GUID %q: %v", text, err)
	}
	for i, from := range [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15} {
		g[i] = b[from]
	}
	return g
}

// A dump gives the leaks of a program the same signatures as UMDH and a trace of it, and shows these leaks.
func TestDumpHasTheSignaturesOfOtherEvidence(t *testing.T) {
	data, run, counts := labDump(t, "A/umdh_x64")
	path := write(t, "batterymeter.dmp", data)
	alone := analyzeJSON(t, "--symbols", labSymbols(t), path)
	logs := corpus.Path(t, "lab", "A", "umdh_x64")
	both := analyzeJSON(t, "--symbols", labSymbols(t), filepath.Join(logs, "snap1.txt"), filepath.Join(logs, "snap2.txt"),
		path, filepath.Join(logs, "snap3.txt"))
	traced := analyzeJSON(t, "--symbols", labSymbols(t), "--process", "batterymeter.exe",
		corpus.Path(t, "lab", "A", "etl_x64", "merged_plain.etl"))
	if layout := alone.Memory[0].Heaps[0].LayoutSource; layout != "ntdll.pdb" {
		t.Errorf("the heap's structures are known from %s, although ntdll's PDB is there", layout)
	}
	if layout := analyzeJSON(t, path).Memory[0].Heaps[0].LayoutSource; layout != "10.0.19045 x64 (embedded)" {
		t.Errorf("without symbols the heap's structures are known from %s", layout)
	}
	if len(both.Snapshots) != 3 || both.Evidence[2].Kind != "minidump" || !both.Evidence[2].Used {
		t.Errorf("%d snapshots, %+v", len(both.Snapshots), both.Evidence)
	}
	seen := 0
	for i, stack := range run.Stacks[:5] {
		var signature string
		for _, s := range alone.Sites {
			if s.Blame != nil && int(s.Outstanding.Count) == counts[i] {
				signature = s.Signature
			}
		}
		f, ok := findingBySignature(both, signature)
		if !ok {
			t.Errorf("%s: the logs have no finding %s", stack.Role, signature)
			continue
		}
		last := f.ByKind[len(f.ByKind)-1]
		if last.Kind != "minidump" || int(last.Outstanding.Count) != counts[i] || f.Unreachable == nil {
			t.Errorf("%s: witnesses %+v, unreachable %v", stack.Role, f.ByKind, f.Unreachable)
		}
		if _, ok := findingBySignature(traced, signature); ok {
			seen++
		}
	}
	if seen < 4 { // one of them allocates nothing while the trace runs
		t.Errorf("the trace has %d of the signatures", seen)
	}
}

func findingBySignature(r *analysis.Report, signature string) (*analysis.Finding, bool) {
	for i := range r.Findings {
		if r.Findings[i].Signature == signature {
			return &r.Findings[i], true
		}
	}
	return nil, false
}

// Five dumps of one process are a series: blocks that stay are matched by address.
func TestSeriesOfDumps(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 2, Stacks: true, Heaps: 1,
		Segments: 1, Blocks: 50})
	var paths []string
	for i := range 5 {
		paths = append(paths,
			write(t, fmt.Sprintf("%d.dmp", i),
				dumptest.Of(p, dumptest.Program{PID: 7, Private: []uint64{uint64(i+1) << 20}}).Bytes()))
	}
	r := analyzeJSON(t, paths...)
	if len(r.Snapshots) != 5 || len(r.Memory) != 5 || r.Totals.Heap.Growth.Bytes != 0 ||
		r.Totals.Virtual.Growth.Bytes != 4<<20 || r.MatchedBy != "id" {
		t.Errorf("%d snapshots, growth %+v and %+v, matched by %q", len(r.Snapshots), r.Totals.Heap.Growth,
			r.Totals.Virtual.Growth, r.MatchedBy)
	}
}

// This is the walkthrough of a leak in somebody else's library: the report names that library first, and does not call
// the runtime a leak.
func TestWalkthroughOfDebugDiag(t *testing.T) {
	path := write(t, "report.mht", debugdiagtest.Walkthrough().MIME())
	out, errOut, code := cli(t, "analyze", path)
	if code != exitInconclusive || errOut != "" {
		t.Fatalf("exit %d, %s", code, errOut)
	}
	sentence := strings.Split(out, "\n")[1]
	if !strings.Contains(sentence, "the most, 148 MB in 37,888 blocks (94 %), from 3rdparty!IFMX_IsInTransaction") ||
		strings.Contains(sentence, "mscorsvr") {
		t.Error(sentence)
	}
	r := analyzeJSON(t, path)
	if s := &r.Sites[0]; s.Blame.Module != "3rdparty" || s.Outstanding.Bytes != 148<<20 {
		t.Errorf("%+v %+v", s.Blame, s.Outstanding)
	}
	if s := &r.Sites[1]; s.Blame.Module != "mscorsvr" || s.Verdict != analysis.ClassUnknown || s.Score != nil {
		t.Errorf("%+v is called %s", s.Blame, s.Verdict)
	}
}

// eeheap is what WinDbg printed about managed heaps in the walkthrough, which leaves the rest for native heaps, and two
// outputs about these.
const eeheap = `0:000> !eeheap -gc
Number of GC Heaps: 1
generation 0 starts at 0x1124b1c0
generation 1 starts at 0x111c3684
generation 2 starts at 0x102d0030
ephemeral segment allocation context: none
segment    begin       allocated     size
0x102d0000 0x102d0030  0x1165033c 0x138030c(20,448,012)
Large object heap starts at 0x202d0030
segment    begin       allocated     size
0x202d0000 0x202d0030  0x20636810 0x003667e0(3,565,536)
Total Size  0x16e6aec(24,013,548)
------------------------------
GC Heap Size  0x16e6aec(24,013,548)
0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00460000 00000002    1024    512    512      4     2     1    0      0   LFH
0:000> g
0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00460000 00000002    3072   2560   2560      4     2     1    0      0   LFH
`

func TestLogOfWinDbg(t *testing.T) {
	r := analyzeJSON(t, write(t, "session.log", []byte(eeheap)))
	if len(r.Memory) != 2 || len(r.Memory[0].Managed) == 0 || r.Verdict.Status != analysis.StatusInconclusive {
		t.Fatalf("%+v %+v", r.Memory, r.Verdict)
	}
	if g := r.Memory[1].Heaps[0].Growth; g == nil || g.Committed != 2<<20 || g.Reserved != 2<<20 {
		t.Errorf("growth %+v", g)
	}
	if total := r.Memory[0].Managed[0].Bytes; total != 24_013_548 {
		t.Errorf("managed %d", total)
	}
}

// Once symbols are there, blocks whose first word is the address of a table of virtual functions are grouped by their
// class.
func TestBlocksByClass(t *testing.T) {
	folder := corpus.Path(t, "symbols", "node-pty", "prebuilds", "win32-x64")
	file, err := os.Open(filepath.Join(folder, "conpty.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	id, err := symbols.Identify(t.Context(), "conpty.pdb", file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	age, err := strconv.ParseUint(id.DebugID[32:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 8, Heaps: 1, Segments: 1, Blocks: 40})
	table := p.Images[2].Base + 0x33a18
	p.Memory = p.Memory.Map(func(start uint64, b []byte) []byte {
		for _, block := range p.Blocks {
			if at := block.Address - start; at < uint64(len(b)) && block.Size >= 8 {
				binary.LittleEndian.PutUint64(b[at:], table)
			}
		}
		return b
	})
	module := minidumptest.Module{Path: `C:\node\conpty.node`, PDB: `D:\a\conpty.pdb`, GUID: guid(t, id.DebugID[:32]),
		Age: uint32(age)}
	path := write(t, "node.dmp",
		dumptest.Of(p, dumptest.Program{Modules: map[string]minidumptest.Module{"leaky.dll": module}}).Bytes())
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{path}, "conpty.node+0x33a18"},
		{[]string{"--symbols", folder, path}, "conpty!std::out_of_range::`vftable'"},
	} {
		keys := map[string]int64{}
		for _, g := range analyzeJSON(t, test.args...).Memory[0].Groups {
			if g.By == capture.ByType {
				keys[g.Key] = g.Usage.Count
			}
		}
		if len(keys) != 1 || keys[test.want] == 0 {
			t.Errorf("%v: %v, want %s", test.args, keys, test.want)
		}
	}
}
