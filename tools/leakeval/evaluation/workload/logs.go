package workload

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh/umdhtest"
	"heapdrift/internal/analysis"
)

// Evidence is what was recorded of a process, as the readers read it.
type Evidence struct {
	Inputs  []analysis.Input
	Options analysis.Options
	close   func()
}

// Close releases what the readers hold.
func (e *Evidence) Close() {
	if e.close != nil {
		e.close()
	}
}

// ForgetAddresses removes from the snapshots all that evidence without addresses would not tell.
func (e *Evidence) ForgetAddresses() {
	for _, in := range e.Inputs {
		for _, c := range in.Captures {
			c.Blocks = capture.Blocks{}
		}
	}
}

// start is when runs begin, by the clock of their machine.
var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// Logs takes n UMDH logs of the process.
func (p *Process) Logs(ctx context.Context, n int) (*Evidence, error) {
	made := p.umdh()
	return p.snapshots(ctx, n, func(number int, seconds float64) (ingest.Source, error) {
		var text bytes.Buffer
		err := made.WriteSnapshot(&text, p.snapshot(seconds))
		return ingest.Source{Name: fmt.Sprintf("snapshot%d.txt", number), ReaderAt: bytes.NewReader(text.Bytes()),
			Size: int64(text.Len())}, err
	})
}

// snapshots reads n files that write makes of an instant each. They are taken while the process runs, about evenly and
// not exactly so; three in ten first ones while it still starts.
func (p *Process) snapshots(ctx context.Context, n int,
	write func(number int, seconds float64) (ingest.Source, error)) (*Evidence, error) {
	r := rand.New(rand.NewPCG(p.Seed, p.Number<<16|p.Run<<8|uint64(n)|1<<63)) // the same instants whichever others are taken
	begin := 0.02 + 0.06*r.Float64()
	if r.Float64() < 0.3 {
		begin = 0.02 * r.Float64()
	}
	out := &Evidence{Options: analysis.Options{Names: p.names()}}
	if p.Counted {
		out.Options.WorkUnit = "request"
	}
	for i := range n {
		at := begin + (1-begin)*(float64(i)+0.3*(r.Float64()-0.5))/(float64(n)-0.85)
		seconds := min(at, 1) * cmp.Or(p.Recorded, p.Seconds)
		file, err := write(i+1, seconds)
		if err != nil {
			return nil, fmt.Errorf("workload: %w", err)
		}
		read, err := ingest.Read(ctx, file, ingest.Options{})
		if err != nil {
			return nil, fmt.Errorf("workload: %w", err)
		}
		in := analysis.Input{Files: []analysis.File{{Name: file.Name, Bytes: file.Size}}, Captures: read.Captures}
		if p.Counted {
			in.Work = new(1000 * p.load.Work(seconds))
		}
		out.Inputs = append(out.Inputs, in)
	}
	return out, nil
}

func (p *Process) umdh() *umdhtest.Process {
	made := &umdhtest.Process{PID: pid, Machine: "WORKLOAD-1", UMDHVersion: "10.0.19041.1"}
	for i, path := range imagePaths {
		made.Modules = append(made.Modules,
			umdhtest.Module{Path: path, Base: address(i, 0), Size: imageSize, Symbols: umdhtest.NoSymbols})
	}
	for i := range p.Stacks {
		s := umdhtest.Stack{ID: 0x10000 + uint64(i)*0x70}
		for _, f := range p.frames(i) {
			s.Frames = append(s.Frames, umdhtest.Frame{Address: f})
		}
		made.Stacks = append(made.Stacks, s)
	}
	return made
}

// snapshot is what the process holds at an instant.
func (p *Process) snapshot(seconds float64) *umdhtest.Snapshot {
	s := &umdhtest.Snapshot{Time: clock(seconds)}
	for _, handle := range handles {
		s.Heaps = append(s.Heaps, umdhtest.Heap{Handle: handle})
	}
	for stack, b := range p.live(seconds) {
		h := &s.Heaps[b.heap]
		h.Blocks = append(h.Blocks,
			umdhtest.Block{Address: b.address, Requested: b.bytes, Overhead: windows.BeforeBlock(), Stack: int32(stack)})
	}
	for h := range s.Heaps {
		slices.SortFunc(s.Heaps[h].Blocks, func(a, b umdhtest.Block) int { return cmp.Compare(a.Address, b.Address) })
	}
	return s
}

// live are the blocks that the process has at an instant, with their stacks.
func (p *Process) live(seconds float64) iter.Seq2[int, *block] {
	return func(yield func(int, *block) bool) {
		for i := range p.Stacks {
			for k := range p.Stacks[i].blocks {
				b := &p.Stacks[i].blocks[k]
				if b.born <= seconds && seconds < b.died && !yield(i, b) {
					return
				}
			}
		}
	}
}

// clock is what the machine's clock says at a second of the run.
func clock(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}
