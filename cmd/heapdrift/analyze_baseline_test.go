package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/umdh/umdhtest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
	"heapdrift/internal/golden"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// What the functions of shop.exe keep at an instant, in blocks.
type keeps map[string]func(snapshot int) int

// Ways to keep blocks.
var (
	leaks20 = func(k int) int { return 100 + 20*k }
	leaks40 = func(k int) int { return 100 + 40*k }
	leaks60 = func(k int) int { return 100 + 60*k }
	little  = func(k int) int { return min(160, 100+20*k) }
	fills   = func(k int) int { return min(600, 100+80*k) }
	steady  = func(int) int { return 100 }
	nothing = func(int) int { return 0 }
)

// shopFunctions are the functions of shop.exe that allocate.
var shopFunctions = []string{"Cache::Add", "Receipt::Append", "Shelf::Load", "Till::Open"}

// shopSections are the sections of shop.exe, and shopSize is its size in memory.
var shopSections, shopSize = func() ([]pdbtest.Section, uint64) {
	sections := pdbtest.Standard(0x10000)
	last := sections[len(sections)-1]
	return sections, uint64(last.RVA+last.Size+0xFFF) &^ 0xFFF
}()

// shopSymbols writes shop.pdb and returns its folder.
func shopSymbols(t *testing.T) string {
	t.Helper()
	p := &pdbtest.Program{GUID: [16]byte{3: 7}, Age: 1, Sections: shopSections}
	m := pdbtest.Module{Name: "shop.obj"}
	for i, name := range append(slices.Clone(shopFunctions), "Shop::Serve", "main") {
		m.Functions = append(m.Functions, pdbtest.Function{Name: name, Length: 0x100,
			Address: pdbtest.Address{Section: 1, Offset: uint32(0x1000 * i)}, Lines: []pdbtest.Line{
				{Offset: 0, File: `c:\shop\shop.cpp`, Line: uint32(10 * (i + 1))}}})
	}
	p.Modules = []pdbtest.Module{m}
	pdb, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, map[string][]byte{"shop.pdb": pdb})
}

// shopRun writes a log of UMDH for each of some snapshots, ten minutes apart, and returns their folder.
func shopRun(t *testing.T, pid uint32, snapshots int, kept keeps) string {
	t.Helper()
	const image, ntdll = 0x7FF6_5480_0000, 0x7FF9_7131_0000
	base := uint64(image) + uint64(pid)<<20
	p := &umdhtest.Process{PID: pid, Machine: "LAB", UMDHVersion: "10.0.19041.1", Modules: []umdhtest.Module{
		{Path: `C:\shop\shop.exe`, Base: base, Size: shopSize},
		{Path: `C:\Windows\System32\ntdll.dll`, Base: ntdll, Size: 0x40000, Symbols: umdhtest.ExportSymbols}}}
	code := func(function, call int) umdhtest.Frame {
		return umdhtest.Frame{Address: base + 0x1000 + uint64(0x1000*function+0x10*call)}
	}
	for i := range shopFunctions {
		p.Stacks = append(p.Stacks, umdhtest.Stack{ID: uint64(0x100 + i), Frames: []umdhtest.Frame{{Address: ntdll + 0x4AD},
			code(i, 1), code(len(shopFunctions), i+1), code(len(shopFunctions)+1, 1)}})
	}
	files := map[string][]byte{}
	rng := rand.New(rand.NewPCG(uint64(pid), 1))
	for k := range snapshots {
		s := &umdhtest.Snapshot{Time: time.Date(2026, 3, 4, 8, 10*k, 0, 0, time.UTC)}
		heap := umdhtest.Heap{Handle: 0x1D0_0000}
		for i, name := range shopFunctions {
			n := 0
			if keep := kept[name]; keep != nil {
				n = keep(k)
			}
			if n > 100 {
				n += rng.IntN(5)
			}
			for b := range n {
				heap.Blocks = append(heap.Blocks, umdhtest.Block{Address: 0x2000_0000 + uint64(i)<<24 + uint64(b)*0x1000,
					Requested: 2048, Overhead: 48, Stack: int32(i)})
			}
		}
		s.Heaps = []umdhtest.Heap{heap}
		var log bytes.Buffer
		if err := p.WriteSnapshot(&log, s); err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("shop-%02d.txt", k+1)] = log.Bytes()
	}
	return tree(t, files)
}

// shopFiles are the files of a folder as a shell lists them.
func shopFiles(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*")
	if err != nil || files == nil {
		t.Fatal("no files", err)
	}
	return files
}

// shopReport analyses a run to a file, as an earlier job would.
func shopReport(t *testing.T, symbols, name, folder string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if _, errOut, code := cli(t, append([]string{"analyze", "--symbols", symbols, "--format", "json", "-o", path},
		shopFiles(t, folder)...)...); code == exitUsage || code == exitInput {
		t.Fatal(code, errOut)
	}
	return path
}

// A job without a server: what is new or faster than in the baseline fails it, and what the baseline has does not.
func TestBaselineGate(t *testing.T) {
	symbols := shopSymbols(t)
	clean := shopRun(t, 1, 12, keeps{"Receipt::Append": steady, "Shelf::Load": steady})
	old := shopRun(t, 2, 12, keeps{"Receipt::Append": leaks20, "Shelf::Load": steady})
	again := shopRun(t, 3, 12, keeps{"Receipt::Append": leaks20, "Shelf::Load": steady})
	faster := shopRun(t, 4, 12, keeps{"Receipt::Append": leaks60, "Shelf::Load": steady})
	another := shopRun(t, 5, 12, keeps{"Receipt::Append": leaks20, "Till::Open": leaks20})
	short := shopRun(t, 6, 3, keeps{"Receipt::Append": leaks20})
	filled := shopRun(t, 7, 12, keeps{"Receipt::Append": steady, "Till::Open": little})
	growing := shopRun(t, 8, 8, keeps{"Receipt::Append": steady, "Till::Open": leaks40}) // 13 MB a day
	slowly := shopRun(t, 9, 8, keeps{"Receipt::Append": steady, "Till::Open": leaks20})  // 7 MB a day
	for _, c := range []struct {
		name       string
		base, head string
		exit       int
		changes    string // of the report, by function
		reasons    string
	}{
		{"new", clean, old, exitLeak, "Receipt::Append new", "fails new"},
		{"the same in both", old, again, exitOK, "Receipt::Append persisting", ""},
		{"faster", old, faster, exitLeak, "Receipt::Append grown", "fails grown"},
		{"slower", faster, old, exitOK, "Receipt::Append shrunk", ""},
		{"one new beside an old one", old, another, exitLeak, "Till::Open new, Receipt::Append persisting", "fails new"},
		{"fixed", old, clean, exitOK, "Receipt::Append fixed", ""},
		{"clean", clean, clean, exitOK, "", ""},
		{"a baseline too short to tell how fast", short, old, exitInconclusive, "Receipt::Append persisting",
			"doubts baseline-inconclusive"},
		{"a baseline too short to tell what is new", short, another, exitInconclusive,
			"Till::Open new, Receipt::Append persisting", "doubts baseline-inconclusive, doubts baseline-inconclusive"},
		{"evidence that does not suffice", clean, short, exitInconclusive, "Receipt::Append new",
			"doubts evidence-inconclusive"},
		{"new growth that is not decided", filled, growing, exitInconclusive, "Till::Open new", "doubts undecided"},
		{"new growth that does not matter", filled, slowly, exitOK, "Till::Open new", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for kind, baseline := range map[string]string{analysis.BaselineEvidence: c.base,
				analysis.BaselineReport: shopReport(t, symbols, "base.json", c.base)} {
				out, errOut, code := cli(t, append([]string{"analyze", "--symbols", symbols, "--format", "json",
					"--baseline", baseline}, shopFiles(t, c.head)...)...)
				if code == exitUsage || code == exitInput {
					t.Fatal(code, errOut)
				}
				r, err := analysis.ReadJSON(strings.NewReader(out))
				if err != nil {
					t.Fatal(err)
				}
				got := r.Compared
				changes, reasons := []string{}, []string{}
				for _, ch := range got.Changes {
					changes = append(changes, strings.TrimPrefix(ch.Title, "shop!")+" "+ch.Change)
				}
				for _, reason := range got.Reasons {
					reasons = append(reasons, reason.Effect+" "+reason.Code)
				}
				if code != c.exit || got.Exit != c.exit || strings.Join(changes, ", ") != c.changes ||
					strings.Join(reasons, ", ") != c.reasons || got.Runs[0].Kind != kind || got.Runs[0].Name != baseline {
					t.Errorf("%s: exit %d, want %d; %q, want %q; %q, want %q; %+v", kind, code, c.exit, changes, c.changes,
						reasons, c.reasons, got.Runs)
				}
				status := map[int]analysis.VerdictStatus{exitOK: analysis.StatusNoLeak, exitLeak: analysis.StatusLeak,
					exitInconclusive: analysis.StatusInconclusive}[c.exit]
				if r.Verdict.Status != status {
					t.Errorf("%s: the verdict is %s, want %s", kind, r.Verdict.Status, status)
				}
			}
		})
	}
}

// The texts of a comparison: a leak that is new beside one that the baseline has.
func TestBaselineTexts(t *testing.T) {
	symbols := shopSymbols(t)
	base := shopReport(t, symbols, "4811.json", shopRun(t, 2, 12, keeps{"Receipt::Append": leaks20, "Cache::Add": leaks20}))
	head := shopRun(t, 5, 12, keeps{"Receipt::Append": leaks20, "Till::Open": leaks20})
	goldens, err := filepath.Abs("testdata/baseline")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(base))
	for _, format := range []string{"text", "markdown", "junit", "sarif"} {
		out, errOut, code := cli(t, append([]string{"analyze", "--symbols", symbols, "--top", "2", "--format", format,
			"--baseline", "4811.json"}, shopFiles(t, head)...)...)
		if code != exitLeak {
			t.Fatal(code, errOut)
		}
		golden.Check(t, filepath.Join(goldens, "baseline."+format), out)
	}
}

// Several baselines tell what a place did before: what grew in one persists, and what filled up in all of them is no leak
// while it is filling again.
func TestBaselineHistory(t *testing.T) {
	symbols := shopSymbols(t)
	var baselines []string
	for i, kept := range []keeps{
		{"Receipt::Append": leaks20, "Cache::Add": fills},
		{"Receipt::Append": nothing, "Cache::Add": fills},
		{"Receipt::Append": leaks20, "Cache::Add": fills},
	} {
		report := shopReport(t, symbols, fmt.Sprintf("%d.json", i), shopRun(t, uint32(10+i), 20, kept))
		baselines = append(baselines, "--baseline", report)
	}
	head := shopRun(t, 20, 12, keeps{"Receipt::Append": leaks20, "Cache::Add": leaks40,
		"Till::Open": leaks60})
	args := append([]string{"--symbols", symbols}, baselines...)
	r := analyzeJSON(t, append(append(args, "--baseline", baselines[1]), shopFiles(t, head)...)...)
	want := map[string][2]string{"shop!Receipt::Append": {"persisting", "grew in 2 of 3 baselines, was not in 1 of 3 baselines"},
		"shop!Cache::Add": {"new", "levelled off in 3 of 3 baselines"}, "shop!Till::Open": {"new", "in none of 3 baselines"}}
	for _, ch := range r.Compared.Changes {
		if w := want[ch.Title]; ch.Change != w[0] || ch.History != w[1] || ch.Fails != (ch.Title == "shop!Till::Open") {
			t.Errorf("%+v, want %q", ch, w)
		}
		f := findingOf(t, r, ch.Signature)
		said := strings.ToUpper(ch.History[:1]) + ch.History[1:] + "."
		if n := len(f.Clauses); n < 2 || f.Clauses[n-2].Text != said || f.Clauses[n-1].Rule != "next" {
			t.Errorf("%s: the reasons are %+v", ch.Title, f.Clauses)
		}
	}
	if n := len(r.Compared.Changes); n != len(want) {
		t.Errorf("%d changes", n)
	}
	if w := r.Compared.Warnings; len(r.Compared.Runs) != 3 || len(w) != 1 || w[0].Code != "baseline-repeated" {
		t.Errorf("%+v of %+v", w, r.Compared.Runs)
	}
}

// A baseline that cannot be one is refused with a code that stays.
func TestBaselineErrors(t *testing.T) {
	symbols := shopSymbols(t)
	run := shopRun(t, 1, 5, keeps{"Receipt::Append": steady})
	report := shopReport(t, symbols, "base.json", run)
	edited := func(change func(map[string]any)) string {
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		change(fields)
		if text, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(tree(t, map[string][]byte{"edited.json": text}), "edited.json")
	}
	log, err := os.ReadFile(shopFiles(t, run)[0])
	if err != nil {
		t.Fatal(err)
	}
	mixed := tree(t, map[string][]byte{"a.json": must(os.ReadFile(report)), "b.txt": log})
	for name, c := range map[string]struct {
		baseline string
		says     string
		exit     int
	}{
		"other JSON": {edited(func(f map[string]any) { f["schema"] = "heapdrift.verdict/v1" }), "[baseline-kind]", exitInput},
		"mixed":      {mixed, "[baseline-kind]", exitInput},
		"no evidence": {filepath.Join(tree(t, map[string][]byte{"notes.txt": []byte("call Ann")}), "notes.txt"),
			"[baseline-unreadable]", exitInput},
		"missing":      {"missing/*.txt", "[baseline-unreadable]", exitInput},
		"empty folder": {t.TempDir(), "[baseline-empty]", exitInput},
		"another program": {edited(func(f map[string]any) { f["process"].(map[string]any)["name"] = "till.exe" }),
			"it is a run of till.exe, and the evidence is of shop.exe", exitInput},
		"another version": {edited(func(f map[string]any) {
			f["findings"].([]any)[0].(map[string]any)["signature"] = "sig0:12"
		}), "its signatures have version sig0, this heapdrift writes sig1", exitInput},
	} {
		out, errOut, code := cli(t, append([]string{"analyze", "--symbols", symbols, "--baseline", c.baseline},
			shopFiles(t, run)...)...)
		if code != c.exit || !strings.Contains(errOut, c.says) || !strings.Contains(errOut, "--baseline ") || out != "" {
			t.Errorf("%s: exit %d, %q lacks %q", name, code, errOut, c.says)
		}
	}
	if _, errOut, code := cli(t, "analyze", "--format", "parquet", "--baseline", report, "x.etl"); code != exitUsage {
		t.Errorf("exit %d, %s", code, errOut)
	}
}

// must returns what was read.
func must(content []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return content
}

// Without symbols a signature holds for one build, so that nobody can say what is new; nothing without a baseline
// changes.
func TestBaselineWithoutSymbols(t *testing.T) {
	base := shopRun(t, 1, 12, keeps{"Receipt::Append": steady})
	head := shopFiles(t, shopRun(t, 2, 12, keeps{"Receipt::Append": steady, "Till::Open": leaks20}))
	if out, _, code := cli(t, append([]string{"analyze", "--baseline", base}, head...)...); code != exitInconclusive ||
		!strings.HasPrefix(out, "GATE INCONCLUSIVE\n") || !strings.Contains(out, "give the symbols of both builds") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, _, code := cli(t, append([]string{"analyze"}, head...)...); code != exitLeak ||
		!strings.HasPrefix(out, "LEAK\n") || strings.Contains(out, "baseline") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// The lab's build before its leaks as the baseline of the one that has them, and each beside itself.
func TestLabBaseline(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	trace := func(build string) string { return corpus.Path(t, "lab", "D", build, "etl", "heap_"+build+".etl") }
	for _, c := range []struct {
		base, head string
		exit       int
		changes    string
	}{{"b100", "b101", exitLeak, "new new"}, {"b101", "b101", exitOK, "persisting persisting"}, {"b100", "b100", exitOK, ""},
		{"b101", "b100", exitOK, "fixed fixed"}} {
		out, errOut, code := cli(t, "analyze", "--symbols", labSymbols(t), "--format", "json", "--baseline", trace(c.base),
			trace(c.head))
		r, err := analysis.ReadJSON(strings.NewReader(out))
		if err != nil {
			t.Fatal(errOut, err)
		}
		var changes []string
		for _, ch := range r.Compared.Changes {
			changes = append(changes, ch.Change)
		}
		if code != c.exit || strings.Join(changes, " ") != c.changes {
			t.Errorf("%s to %s: exit %d, %q", c.base, c.head, code, changes)
		}
	}
}
