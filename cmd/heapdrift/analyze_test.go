package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
)

// cli runs a command line and returns what it printed and its exit code.
func cli(t *testing.T, args ...string) (out, errOut string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, streams{in: strings.NewReader(""), out: &o, err: &e})
	return o.String(), e.String(), code
}

func analyzeJSON(t *testing.T, args ...string) *analysis.Report {
	t.Helper()
	out, errOut, code := cli(t, append([]string{"analyze", "--format", "json"}, args...)...)
	if code == exitUsage || code == exitInput {
		t.Fatalf("analyze %v: exit %d, %s", args, code, errOut)
	}
	r, err := analysis.ReadJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// truth is what the generated evidence is known to hold.
type truth struct {
	Runs []struct {
		Name      string
		PID       uint32
		Snapshots []truthSnapshot `json:"umdh_snapshots"`
		Diffs     []struct {
			File                string
			Base                string
			TotalRequestedDelta int64 `json:"total_requested_delta"`
			Rows                []struct {
				BackTrace  string
				BytesDelta int64 `json:"bytes_delta"`
				NewBytes   int64 `json:"new_bytes"`
				CountDelta int64 `json:"count_delta"`
				NewCount   int64 `json:"new_count"`
			}
		} `json:"umdh_diffs"`
	}
}

type truthSnapshot struct {
	File      string
	Entries   int64
	Requested int64
	PerHeap   map[string][3]int64 `json:"per_heap_entries_requested_overhead"`
	PerStack  []struct {
		Role      string
		BackTrace string
		Count     int64
		Requested int64
	} `json:"per_stack"`
}

// folder is the folder of a run's logs: U keeps its logs beside its truth.
func folder(t *testing.T, scenario, run string) string {
	if scenario == "U" {
		return corpus.Path(t, "lab", "U")
	}
	return corpus.Path(t, "lab", scenario, strings.TrimPrefix(run, scenario+"/"))
}

func eachTruth(t *testing.T, do func(t *testing.T, scenario string, truth truth)) {
	for _, scenario := range []string{"A", "C", "D", "U"} {
		text, err := os.ReadFile(corpus.Path(t, "lab", scenario, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var tr truth
		if err := json.Unmarshal(text, &tr); err != nil {
			t.Fatal(err)
		}
		t.Run(scenario, func(t *testing.T) { do(t, scenario, tr) })
	}
}

// byTrace finds a site by the id that the evidence gives its stack.
func byTrace(r *analysis.Report, id string) *analysis.Site {
	for i := range r.Sites {
		if slices.Contains(r.Sites[i].Traces, id) {
			return &r.Sites[i]
		}
	}
	return nil
}

func TestLabSnapshots(t *testing.T) {
	eachTruth(t, func(t *testing.T, scenario string, tr truth) {
		n := 0
		for _, run := range tr.Runs {
			for _, s := range run.Snapshots {
				n++
				r := analyzeJSON(t, filepath.Join(folder(t, scenario, run.Name), s.File))
				checkSnapshot(t, r, s)
			}
		}
		if n == 0 {
			t.Error("no snapshots in the truth")
		}
	})
}

func checkSnapshot(t *testing.T, r *analysis.Report, s truthSnapshot) {
	t.Helper()
	if got, want := r.Totals.Heap.Outstanding, (analysis.Amount{Count: s.Entries, Bytes: s.Requested}); got != want ||
		r.Totals.Heap.Growth != nil {
		t.Errorf("%s: total %+v, want %+v and no growth", s.File, r.Totals.Heap, want)
	}
	for _, h := range r.Heaps {
		want := s.PerHeap[strings.ToUpper(strings.TrimPrefix(h.Handle, "0x"))]
		if h.Outstanding != (analysis.Amount{Count: want[0], Bytes: want[1]}) {
			t.Errorf("%s: heap %s %+v, want %v", s.File, h.Handle, h.Outstanding, want)
		}
	}
	for _, stack := range s.PerStack {
		site := byTrace(r, stack.BackTrace)
		if site == nil || site.Outstanding != (analysis.Amount{Count: stack.Count, Bytes: stack.Requested}) {
			t.Errorf("%s: %s: %+v, want %d blocks, %d bytes", s.File, stack.Role, site, stack.Count, stack.Requested)
		}
	}
	if r.Verdict.Status != analysis.StatusInconclusive {
		t.Errorf("%s: status %s", s.File, r.Verdict.Status)
	}
}

func TestLabSeries(t *testing.T) {
	eachTruth(t, func(t *testing.T, scenario string, tr truth) {
		for _, run := range tr.Runs {
			if len(run.Snapshots) < 2 {
				continue
			}
			var files []string
			for _, s := range run.Snapshots {
				files = append(files, filepath.Join(folder(t, scenario, run.Name), s.File))
			}
			r := analyzeJSON(t, files...)
			first, last := run.Snapshots[0], run.Snapshots[len(run.Snapshots)-1]
			if g := *r.Totals.Heap.Growth; g != (analysis.Amount{Count: last.Entries - first.Entries,
				Bytes: last.Requested - first.Requested}) {
				t.Errorf("%s: growth %+v", run.Name, g)
			}
			if r.MatchedBy != "id" {
				t.Errorf("%s: matched by %q", run.Name, r.MatchedBy)
			}
			for _, stack := range last.PerStack {
				site := byTrace(r, stack.BackTrace)
				want := analysis.Amount{Count: stack.Count, Bytes: stack.Requested}
				for _, before := range first.PerStack {
					if before.BackTrace == stack.BackTrace {
						want.Count -= before.Count
						want.Bytes -= before.Requested
					}
				}
				if site == nil || *site.Growth != want || len(site.Series) != len(files) {
					t.Errorf("%s: %s: %+v, want growth %+v", run.Name, stack.Role, site, want)
				}
			}
			for i, s := range run.Snapshots {
				if r.Snapshots[i].Amount != (analysis.Amount{Count: s.Entries, Bytes: s.Requested}) {
					t.Errorf("%s: snapshot %d is %+v", run.Name, i, r.Snapshots[i])
				}
			}
		}
	})
}

func TestLabDiffs(t *testing.T) {
	eachTruth(t, func(t *testing.T, scenario string, tr truth) {
		for _, run := range tr.Runs {
			for _, d := range run.Diffs {
				file := filepath.Join(folder(t, scenario, run.Name), d.File)
				for _, base := range []string{"auto", d.Base} {
					r := analyzeJSON(t, "--base", base, file)
					if g := r.Totals.Heap.Growth.Bytes; g != d.TotalRequestedDelta || len(r.Sites) != len(d.Rows) {
						t.Errorf("%s --base %s: growth %d in %d sites, want %d in %d", d.File, base, g, len(r.Sites),
							d.TotalRequestedDelta, len(d.Rows))
					}
					for _, row := range d.Rows {
						site := byTrace(r, row.BackTrace)
						if site == nil || *site.Growth != (analysis.Amount{Count: row.CountDelta, Bytes: row.BytesDelta}) ||
							site.Outstanding != (analysis.Amount{Count: row.NewCount, Bytes: row.NewBytes}) {
							t.Errorf("%s --base %s: BackTrace%s: %+v, want %+v", d.File, base, row.BackTrace, site, row)
						}
					}
				}
			}
		}
	})
}

func TestRestartedProcess(t *testing.T) {
	dir := corpus.Path(t, "lab", "U")
	r := analyzeJSON(t, filepath.Join(dir, "base1.txt"), filepath.Join(dir, "restarted.txt"))
	if !hasWarning(r, "pid-changed") || r.MatchedBy != "stack" {
		t.Errorf("matched by %q, warnings %+v", r.MatchedBy, r.Warnings)
	}
	var grown []string
	for i := range r.Sites {
		if g := r.Sites[i].Growth; g.Bytes != 0 {
			grown = append(grown, fmt.Sprintf("%d/%d", g.Count, g.Bytes))
		}
	}
	if want := []string{"543/2224128", "3/9000", "54/5184", "0/320"}; !slices.Equal(grown, want) {
		t.Errorf("grown %v, want %v", grown, want)
	}
}

// Three logs of a leak, each given twice, are a series of three, not a series of six in which every other one shows no
// growth.
func TestTheSameLogsTwice(t *testing.T) {
	dir := corpus.Path(t, "lab", "D", "b101", "umdh")
	var once, twice []string
	for _, name := range []string{"snap1.txt", "snap2.txt", "snap3.txt"} {
		once, twice = append(once, filepath.Join(dir, name)),
			append(twice, filepath.Join(dir, name), filepath.Join(dir, name))
	}
	if _, _, code := cli(t, append([]string{"analyze"}, twice...)...); code != exitInconclusive {
		t.Errorf("exit %d", code)
	}
	a, b := analyzeJSON(t, once...), analyzeJSON(t, twice...)
	if len(b.Snapshots) != 3 || !reflect.DeepEqual(a.Verdict, b.Verdict) {
		t.Errorf("once %+v\ntwice %+v", a.Verdict, b.Verdict)
	}
}

// A difference is about the program whose logs it compares, although it calls that program by another name.
func TestDifferenceBesideItsLogs(t *testing.T) {
	for _, name := range []string{"D/b101", "A/umdh_x64", "A/umdh_x86", "C/umdh_x86"} {
		dir := corpus.Path(t, "lab", filepath.FromSlash(name))
		if name[0] == 'D' {
			dir = filepath.Join(dir, "umdh")
		}
		r := analyzeJSON(t, filepath.Join(dir, "snap1.txt"), filepath.Join(dir, "snap2.txt"),
			filepath.Join(dir, "diff_1_2.hex.txt"))
		if hasWarning(r, "several-processes") || len(r.Snapshots) != 2 || !strings.HasSuffix(r.Process.Name, ".exe") {
			t.Errorf("%s: %+v, %+v", name, r.Process, r.Warnings)
		}
	}
}

func TestOddSnapshots(t *testing.T) {
	for file, test := range map[string]struct {
		count, bytes int64
		warnings     []string
		flag         string
	}{
		"lf.txt":           {1675, 5414864, nil, ""},
		"utf16le_bom.txt":  {1675, 5414864, nil, ""},
		"truncated.txt":    {1003, 3095472, []string{"truncated"}, ""},
		"db_full.txt":      {1675, 5414864, []string{"no-stacks"}, analysis.FlagNoStack},
		"alias.txt":        {1675, 5414864, []string{"ambiguous-stack"}, analysis.FlagAmbiguous},
		"concatenated.txt": {1675, 5414864, nil, ""},
	} {
		r := analyzeJSON(t, filepath.Join(corpus.Path(t, "lab", "U"), file))
		if r.Totals.Heap.Outstanding != (analysis.Amount{Count: test.count, Bytes: test.bytes}) {
			t.Errorf("%s: %+v", file, r.Totals.Heap.Outstanding)
		}
		for _, code := range test.warnings {
			if !hasWarning(r, code) {
				t.Errorf("%s: no warning %s in %+v", file, code, r.Warnings)
			}
		}
		if test.warnings == nil && len(r.Warnings) > 1 { // every raw log has no-symbols
			t.Errorf("%s: warnings %+v", file, r.Warnings)
		}
		if test.flag != "" &&
			!slices.ContainsFunc(r.Sites, func(s analysis.Site) bool { return slices.Contains(s.Flags, test.flag) }) {
			t.Errorf("%s: no site is flagged %s", file, test.flag)
		}
	}
	r := analyzeJSON(t, filepath.Join(corpus.Path(t, "lab", "U"), "concatenated.txt"))
	if len(r.Snapshots) != 2 || r.Totals.Heap.Growth.Bytes != 5414864-3172040 || len(r.Evidence) != 1 {
		t.Errorf("concatenated: %d snapshots, growth %+v", len(r.Snapshots), r.Totals.Heap.Growth)
	}
	if s := byTrace(analyzeJSON(t, filepath.Join(corpus.Path(t, "lab", "U"), "alias.txt")), "5D9C"); s == nil ||
		s.Outstanding != (analysis.Amount{Count: 464, Bytes: 1083728}) || len(s.AliasStacks) != 1 {
		t.Errorf("alias: %+v", s)
	}
}

func hasWarning(r *analysis.Report, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool { return string(w.Code) == code })
}

// Every sample gives a report or an error with a reason, in every format.
func TestEverySample(t *testing.T) {
	n := 0
	err := filepath.WalkDir(corpus.Path(t, "umdh"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		for _, format := range []string{"text", "json", "markdown", "folded", "csv"} {
			out, errOut, code := cli(t, "analyze", "--format", format, path)
			switch code {
			case 0, exitInconclusive:
				if out == "" && format != "folded" { // folded has no line for evidence without sites
					t.Errorf("%s: %s is empty", path, format)
				}
			case exitInput:
				if !strings.Contains(errOut, filepath.Base(path)) {
					t.Errorf("%s: the error does not name the file: %s", path, errOut)
				}
			default:
				t.Errorf("%s: exit %d, %s", path, code, errOut)
			}
		}
		return nil
	})
	if err != nil || n < 20 {
		t.Errorf("%d samples, %v", n, err)
	}
}

const sample = `// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:10 - Machine=LAB - PID=42
// Loaded modules:
//     Base Size Module
//                  400000    10000 C:\app.exe
// Process modules enumerated.
*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -
*- - - - - - - - - - Heap 3F0000 Hogs - - - - - - - - - -
%X bytes + 10 at 3F0880 by BackTraceA1
	401000
	402000

*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -
`

func writeSample(t *testing.T, name string, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, fmt.Appendf(nil, sample, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExitCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	one := writeSample(t, "one.txt", 16)
	var five []string
	for n := range 5 {
		five = append(five, write(t, "five.txt", fmt.Appendf(nil, sample+"// snapshot %d\n", 16, n)))
	}
	other := filepath.Join(t.TempDir(), "photo.txt")
	if err := os.WriteFile(other, []byte("\xff\xd8\xff\xe0 JFIF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"analyze", one}, exitInconclusive, ""},
		{append([]string{"analyze"}, five...), exitOK, ""}, // nothing grew
		{[]string{"analyze", one, "--format", "json"}, exitInconclusive, ""},
		{[]string{"analyze"}, exitUsage, "no files given"},
		{[]string{"analyze", "--format", "xml", one}, exitUsage, "unknown format"},
		{[]string{"analyze", "--format", "pprof", one}, exitInconclusive, ""},
		{[]string{"analyze", "--base", "octal", one}, exitUsage, "--base"},
		{[]string{"analyze", "--top", "-1", one}, exitUsage, "--top"},
		{[]string{"analyze", "--window", "1,2", one}, exitUsage, "--window"},
		{[]string{"analyze", "--nonsense", one}, exitUsage, "nonsense"},
		{[]string{"analyze", "no-such-file.txt"}, exitInput, "no-such-file.txt"},
		{[]string{"analyze", other}, exitInput, "JPEG"},
		{[]string{"analyze", "--process", "nobody", one}, exitInput, "app.exe (PID 42)"},
		{[]string{"analyze", "--process", "42", one}, exitInconclusive, ""},
		{[]string{"anal"}, exitUsage, "no command"},
		{[]string{"serve"}, exitUsage, "HEAPDRIFT_DATABASE_URL"},
		{[]string{"help"}, exitOK, ""}, {[]string{"help", "env"}, exitOK, ""}, {[]string{"version"}, exitOK, ""},
		{[]string{"analyze", "-h"}, exitOK, ""},
	} {
		t.Setenv("HEAPDRIFT_DATABASE_URL", "")
		out, errOut, code := cli(t, test.args...)
		if code != test.code || !strings.Contains(errOut, test.says) {
			t.Errorf("%v: exit %d, want %d; %q should say %q", test.args, code, test.code, errOut, test.says)
		}
		if code == exitInconclusive && out == "" {
			t.Errorf("%v printed nothing", test.args)
		}
	}
}

// Missing symbols, and a directory that only Windows has, are reported; frames keep their addresses.
func TestSymbolPathThatHasNothing(t *testing.T) {
	r := analyzeJSON(t, "--symbols", `srv*c:\symbols`, writeSample(t, "a.txt", 8))
	tried := r.Modules[0].Tried
	if !slices.ContainsFunc(tried, func(a capture.Attempt) bool { return strings.Contains(a.Detail, `c:\symbols: `) }) {
		t.Errorf("attempts %+v", tried)
	}
	if f := r.Stack(r.Sites[0].Stack)[0]; f.Function != "" || r.Modules[0].Unnamed == 0 {
		t.Errorf("frame %+v of %+v", f, r.Modules[0])
	}
	if _, errOut, code := cli(t, "analyze", "--symbols", "srv*", "--symbols", "symsrv*",
		writeSample(t, "a.txt", 8)); code != exitUsage || !strings.Contains(errOut, "symsrv*") {
		t.Errorf("a symbol path that cannot be meant: exit %d, %s", code, errOut)
	}
}

func TestOutputFile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report.json")
	stdout, errOut, code := cli(t, "analyze", "-o", out, "--format", "json", writeSample(t, "a.txt", 8))
	text, err := os.ReadFile(out)
	if code != exitInconclusive || stdout != "" || err != nil || !json.Valid(text) {
		t.Errorf("exit %d, %q, %s, %v", code, stdout, errOut, err)
	}
	if _, _, code := cli(t, "analyze", "-o", filepath.Join(out, "below", "a file"),
		writeSample(t, "a.txt", 8)); code != exitInput {
		t.Errorf("an output that cannot be written: exit %d", code)
	}
}
