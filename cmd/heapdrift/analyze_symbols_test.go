package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/corpus"
	"heapdrift/worker/workertest"
)

// symbolTruth is the truth about the frames of the generated evidence.
type truthStack struct {
	Role   string
	Leak   bool
	Prefix []truthFrame `json:"umdh_prefix"`
	Frames []truthFrame
}

type symbolTruth struct {
	Runs []struct {
		Name    string
		Modules []struct {
			Name     string
			PDB      string
			GUID     string
			Age      int
			Supplied bool `json:"pdb_supplied"`
			Binary   string
		}
		Stacks    []truthStack
		Snapshots []truthSnapshot `json:"umdh_snapshots"`
	}
}

type truthFrame struct {
	Module, Function string
	RVA, Offset      uint64
	File             string
	Line             uint32
	System           bool
	Inlined          []truthFrame `json:"inlined_here"`
}

// symbolTruths calls do for each run that has raw snapshots.
func symbolTruths(t *testing.T, do func(t *testing.T, files []string, run int, truth symbolTruth)) {
	n := 0
	for _, scenario := range []string{"A", "C", "D"} {
		text, err := os.ReadFile(corpus.Path(t, "lab", scenario, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var truth symbolTruth
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		for i, run := range truth.Runs {
			if len(run.Snapshots) == 0 {
				continue
			}
			n++
			var files []string
			for _, s := range run.Snapshots {
				files = append(files, filepath.Join(folder(t, scenario, run.Name), s.File))
			}
			t.Run(run.Name, func(t *testing.T) { do(t, files, i, truth) })
		}
	}
	if n == 0 {
		t.Error("no raw snapshots in the truth")
	}
}

// labSymbols is a symbol path of everything that the lab has for all its programs, other builds and bitness included.
func labSymbols(t *testing.T) string {
	bins, err := filepath.Glob(corpus.Path(t, "lab", "bin") + "/*")
	if err != nil || len(bins) == 0 {
		t.Fatal("no programs in the lab", err)
	}
	return strings.Join(append(bins, corpus.Path(t, "lab", "symbols")), ";")
}

// Every own frame of raw logs gets the function, file and line that are known, and its inlined calls; system
// frames get their names wherever the PDB is there.
func TestLabSymbols(t *testing.T) {
	symbolTruths(t, func(t *testing.T, files []string, run int, truth symbolTruth) {
		r := analyzeJSON(t, append([]string{"--symbols", labSymbols(t)}, files...)...)
		states := map[string]analysis.Module{}
		for _, m := range r.Modules {
			states[strings.TrimSuffix(strings.TrimSuffix(m.Name, ".dll"), ".exe")] = m
		}
		for _, m := range truth.Runs[run].Modules {
			got, ok := states[m.Name]
			if !ok || got.Frames == 0 || m.Name == "ntdll" && got.PDB != m.PDB { // a WOW64 truth lists the 64-bit ntdll too
				continue
			}
			id := fmt.Sprintf("%s%X", m.GUID, m.Age)
			switch {
			case m.Supplied && (got.DebugID != id || got.Unnamed > 0):
				t.Errorf("%s: %s, %d of %d frames unnamed, want %s: %s", m.Name, got.DebugID, got.Unnamed,
					got.Frames, id, got.Match)
			case m.Binary != "" && strings.HasPrefix(m.Binary, "bin/") && (got.Unproven || got.Symbols != "private"):
				t.Errorf("%s: symbols %s: %s", m.Name, got.Symbols, got.Match)
			case !m.Supplied && got.Symbols != "none":
				t.Errorf("%s: symbols %s, and there are none: %s", m.Name, got.Symbols, got.Match)
			}
		}
		roles := map[string]string{}
		last := truth.Runs[run].Snapshots[len(truth.Runs[run].Snapshots)-1]
		for _, s := range last.PerStack {
			roles[s.Role] = s.BackTrace
		}
		compared := 0
		for _, stack := range truth.Runs[run].Stacks {
			site := byTrace(r, roles[stack.Role])
			if roles[stack.Role] == "" || site == nil {
				continue
			}
			want := wantedFrames(append(stack.Prefix, stack.Frames...))
			frames := r.Stack(site.Stack)
			for i, w := range want {
				if i >= len(frames) {
					t.Errorf("%s: %d frames, want %d", stack.Role, len(frames), len(want))
					break
				}
				compared++
				if got := frameLine(frames[i], w.System); got != w.line() {
					t.Errorf("%s, frame %d: %s, want %s", stack.Role, i, got, w.line())
				}
			}
			if len(frames) > len(want) {
				t.Errorf("%s: %d frames, want %d", stack.Role, len(frames), len(want))
			}
		}
		if compared == 0 {
			t.Error("no frames compared")
		}
	})
}

// wantedFrames puts inlined calls where a report shows them: inside the frame that they were inlined into. Frames of
// modules without a PDB are left as they are.
func wantedFrames(frames []truthFrame) []truthFrame {
	var list []truthFrame
	for _, f := range frames {
		for _, i := range f.Inlined {
			i.Module = f.Module
			list = append(list, i)
		}
		list = append(list, f)
	}
	return list
}

func (f truthFrame) line() string {
	if f.Function == "" {
		return fmt.Sprintf("%s!+0x%x", f.Module, f.RVA)
	}
	if f.System {
		return fmt.Sprintf("%s!%s+0x%x", f.Module, f.Function, f.Offset)
	}
	return fmt.Sprintf("%s!%s+0x%x %s:%d", f.Module, f.Function, f.Offset, f.File, f.Line)
}

func frameLine(f *analysis.Frame, system bool) string {
	s := f.Module + "!" + f.Function + "+" + f.Offset
	if !system {
		s += fmt.Sprintf(" %s:%d", f.File, f.Line)
	}
	return s
}

// A symbol server that does not answer takes the time that a run has for it, and the report lists what the server may
// have.
func TestAnalyzeWithASilentServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	}))
	defer server.Close()
	t.Setenv("HEAPDRIFT_SYMBOL_WAIT", "100ms")
	t.Setenv("HEAPDRIFT_SYMBOL_CACHE", t.TempDir())
	log := strings.Replace(workertest.TillLog(1), "enumerated.\n",
		"enumerated.\n7FF600000000-7FF600005FFF DBGHELP: till - private symbols & lines\n        c:\\sym\\till.pdb\\010000000000000000000000000000001\\till.pdb\n", 1)
	r := analyzeJSON(t, "--symbols", "srv*"+server.URL, write(t, "till.txt", []byte(log)))
	if !slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool {
		return w.Code == capture.SymbolsPending && strings.Contains(w.Message, strings.TrimPrefix(server.URL, "http://")) &&
			strings.Contains(w.Message, "till.pdb")
	}) || asked.Load() == 0 {
		t.Errorf("asked %d times: %+v", asked.Load(), r.Warnings)
	}
}
