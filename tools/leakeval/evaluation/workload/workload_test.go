package workload

import (
	"reflect"
	"regexp"
	"strconv"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// few behaviours, one of which reallocates.
var few = []behaviour.Behaviour{
	{Name: "leak", Truth: behaviour.Leaks, Play: func(s *behaviour.Stack) {
		for _, at := range s.Requests(60) {
			s.Alloc(at, s.Size(100, 0.5))
		}
	}},
	{Name: "churn", Play: func(s *behaviour.Stack) {
		for _, at := range s.Requests(400) {
			s.AllocFor(at, s.Exponential(s.Seconds/50), 64)
		}
	}},
	{Name: "buffer", Play: func(s *behaviour.Stack) {
		b := s.Alloc(1, 100)
		for i, at := range s.Every(s.Seconds/20, 0.1) {
			if at > 1 {
				b = s.Resize(b, at, 100+10*i)
			}
		}
	}},
}

var number = regexp.MustCompile(`Stack(\d+)::Allocate`)

func report(t *testing.T, e *Evidence, err error) *analysis.Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := analysis.Analyze(t.Context(), e.Inputs, e.Options)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Warnings {
		if w.Code.Lossy() {
			t.Errorf("the evidence is damaged: %+v", w)
		}
	}
	return r
}

// byStack are the blocks that sites hold at the end, by number of their stack.
func byStack(r *analysis.Report) map[int]analysis.Amount {
	sums := map[int]analysis.Amount{}
	for i := range r.Sites {
		s := &r.Sites[i]
		for _, f := range r.Stack(s.Stack) {
			if m := number.FindStringSubmatch(f.Function); m != nil && s.Outstanding.Count > 0 {
				k, _ := strconv.Atoi(m[1])
				sums[k] = analysis.Amount{Count: sums[k].Count + s.Outstanding.Count, Bytes: sums[k].Bytes + s.Outstanding.Bytes}
			}
		}
	}
	return sums
}

// held is what the process holds at an instant, counting blocks born since another instant.
func (p *Process) held(since, at float64) map[int]analysis.Amount {
	sums := map[int]analysis.Amount{}
	for i := range p.Stacks {
		for _, b := range p.Stacks[i].blocks {
			if b.born >= since && b.born <= at && at < b.died {
				sums[i] = analysis.Amount{Count: sums[i].Count + 1, Bytes: sums[i].Bytes + int64(b.bytes)}
			}
		}
	}
	return sums
}

// Readers and analysis find in logs and traces what the behaviours did.
func TestEvidenceIsWhatHappened(t *testing.T) {
	attached := false
	for n := range uint64(6) {
		p := New(5, n, 0, few)
		e, err := p.Logs(t.Context(), 3)
		logs := report(t, e, err)
		last := p.Seconds // the last log is taken then, or a little before
		if got, want := byStack(logs), p.held(0, last); len(got) == 0 || len(want) == 0 {
			t.Fatalf("process %d holds nothing", n)
		}
		e, err = p.Trace(t.Context())
		trace := report(t, e, err)
		attached = attached || p.Attached > 0
		if got, want := byStack(trace), p.held(p.Attached, p.Seconds); !reflect.DeepEqual(got, want) {
			t.Errorf("process %d, attached at %.0f s: the trace shows %v, and it holds %v", n, p.Attached, got, want)
		}
	}
	if !attached {
		t.Error("no process was attached to")
	}
}

// A log shows the blocks that are live when it is taken.
func TestSnapshotShowsWhatIsThere(t *testing.T) {
	p := New(5, 1, 0, few)
	at := p.Seconds / 2
	sums := map[int]analysis.Amount{}
	for _, h := range p.snapshot(at).Heaps {
		before := uint64(0)
		for _, b := range h.Blocks {
			if b.Address <= before {
				t.Fatalf("block %#x lies at or below the one before", b.Address)
			}
			before = b.Address
			k := int(b.Stack)
			sums[k] = analysis.Amount{Count: sums[k].Count + 1, Bytes: sums[k].Bytes + int64(b.Requested)}
		}
	}
	if want := p.held(0, at); !reflect.DeepEqual(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}
}

// Runs of one process have the same stacks, and not the same instants.
func TestRunsOfOneProcess(t *testing.T) {
	a, b := New(5, 1, 0, few), New(5, 1, 1, few)
	for i := range a.Stacks {
		if a.Stacks[i].Behaviour != b.Stacks[i].Behaviour {
			t.Fatalf("stack %d is another in the second run", i)
		}
	}
	if reflect.DeepEqual(a.Stacks[0].blocks, b.Stacks[0].blocks) ||
		!reflect.DeepEqual(a.Stacks, New(5, 1, 0, few).Stacks) {
		t.Error("runs are equal, or one run is not equal to itself")
	}
}
