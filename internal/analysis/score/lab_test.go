package score_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/corpus"
)

// labRun is a run of truth.json.
type labRun struct {
	Name   string
	Stacks []struct {
		ID   int
		Role string
		Leak bool
	}
	Snapshots []struct {
		Ticks  int64 `json:"t_ticks"` // of 100 ns
		Stacks []struct {
			Stack            int
			Count, Requested int64
		} `json:"per_stack"`
	} `json:"umdh_snapshots"`
	Files []struct{ File string } `json:"etl_files"`
	// Windows hold what each stack left behind; the first window is the whole trace.
	Windows []struct {
		Stacks []struct {
			Stack int
			AIFO  allocations.Usage
		} `json:"per_stack"`
	}
}

// TestLabSnapshots ranks the stacks in the lab's few snapshots: none is called a leak, and every leak ranks above all
// other stacks.
func TestLabSnapshots(t *testing.T) {
	for _, scenario := range []string{"A", "C", "D"} {
		for _, run := range labRuns(t, scenario) {
			if len(run.Snapshots) == 0 {
				continue
			}
			axis, leaks, others := &score.Axis{Unit: "hour"}, map[string]*score.Series{}, map[string]*score.Series{}
			for _, snapshot := range run.Snapshots {
				axis.At = append(axis.At, float64(snapshot.Ticks)/3600e7)
			}
			for _, stack := range run.Stacks {
				s := &score.Series{}
				for _, snapshot := range run.Snapshots {
					var count, size int64
					for _, u := range snapshot.Stacks {
						if u.Stack == stack.ID {
							count, size = count+u.Count, size+u.Requested
						}
					}
					s.Count, s.Bytes = append(s.Count, count), append(s.Bytes, size)
				}
				switch {
				case stack.Leak && slices.Max(s.Count) > 0:
					leaks[stack.Role] = s
				case !stack.Leak:
					others[stack.Role] = s
				}
			}
			rank(t, axis, leaks, others)
		}
	}
}

// TestLabTraces judges every site of the lab's traces. The blocks and bytes that a site has left identify its stack in
// the truth.
func TestLabTraces(t *testing.T) {
	for _, scenario := range []string{"A", "B", "D"} {
		for _, run := range labRuns(t, scenario) {
			for _, f := range run.Files {
				if f.File == "kernel.etl" { // half of a recording
					continue
				}
				t.Run(run.Name+"/"+f.File, func(t *testing.T) { judgeLab(t, &run, corpus.Path(t, "lab", run.Name, f.File)) })
			}
		}
	}
}

func labRuns(t *testing.T, scenario string) []labRun {
	t.Helper()
	text, err := os.ReadFile(corpus.Path(t, "lab", scenario, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct{ Runs []labRun }
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	return truth.Runs
}

func judgeLab(t *testing.T, run *labRun, path string) {
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tracecapture.Read(context.Background(),
		[]etl.Source{{Name: filepath.Base(path), ReaderAt: bytes.NewReader(file), Size: int64(len(file))}},
		tracecapture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	c := r.Captures[0]
	judged := 0
	for i := range c.Sites {
		s := c.Sites[i].Life.Survival
		if s == nil || c.Sites[i].Kind == capture.KindHeapVirtual {
			continue
		}
		_, left := s.Total()
		role, leaks, known := run.left(left)
		if !known {
			continue
		}
		judged++
		if got := score.ExplainTrace(s, nil); (got.Class == score.ClassLeak) != leaks {
			t.Errorf("%s, a leak: %v, with %+v left: %s %.2f %+v", role, leaks, left, got.Class, got.Score, got.Clauses)
		}
	}
	if judged == 0 {
		t.Log("no site is told by what it has left")
	}
}

// left is the role of the only stack that has left so many blocks and bytes; known is false if there is none.
func (run *labRun) left(u allocations.Usage) (role string, leaks, known bool) {
	if len(run.Windows) == 0 {
		return "", false, false
	}
	for _, s := range run.Windows[0].Stacks {
		if s.AIFO != u {
			continue
		}
		i := slices.IndexFunc(run.Stacks, func(stack struct {
			ID   int
			Role string
			Leak bool
		}) bool {
			return stack.ID == s.Stack
		})
		if known || i < 0 {
			return "", false, false
		}
		role, leaks, known = run.Stacks[i].Role, run.Stacks[i].Leak, true
	}
	return role, leaks, known
}
