package workload

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/analysis"
)

const (
	nanoseconds = 1e9
	tick        = 1000 // ns that two events of the thread lie apart at least
	beforeStart = 20_000_000
)

// Trace records a heap trace of the process: from its start, or from the second Attached on.
func (p *Process) Trace(ctx context.Context) (*Evidence, error) {
	file := p.scenario().File(etltest.Format{})
	const name = "heap.etl"
	read, err := ingest.ReadTogether(ctx,
		[]ingest.Source{{Name: name, ReaderAt: bytes.NewReader(file), Size: int64(len(file))}}, ingest.Options{})
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return &Evidence{
		Inputs:  []analysis.Input{{Files: []analysis.File{{Name: name, Bytes: int64(len(file))}}, Captures: read.Captures}},
		Options: analysis.Options{Names: p.names(), Process: programName},
		close:   func() { _ = read.Close() },
	}, nil
}

// scenario is the trace in the words of its writer.
func (p *Process) scenario() *etltest.Scenario {
	const thread = pid + 1
	by := func(stack int) etltest.Caller { return etltest.Caller{Thread: thread, Stack: stack + 1} }
	s := &etltest.Scenario{
		Start: 133_500_000_000_000_000, CPUs: 1, Volumes: []etltest.Volume{{NT: `\Device\HarddiskVolume3`, DOS: "C:"}},
		End: beforeStart + int64((p.Seconds-p.Attached)*nanoseconds) + tick,
		Processes: []etltest.Process{{
			PID: pid, Parent: 612, Session: 1, Bits: 64, Name: programName, Key: 0xFFFFE00100000080,
			CommandLine: programName, Threads: []etltest.Thread{{TID: thread}},
		}},
	}
	if p.Attached == 0 {
		s.Processes[0].Started = beforeStart / 2
	}
	for i, path := range imagePaths {
		s.Processes[0].Images = append(s.Processes[0].Images,
			etltest.Image{Path: `\Device\HarddiskVolume3` + path[len("C:"):], Base: address(i, 0), Size: imageSize,
				Loaded: s.Processes[0].Started})
	}
	for i, handle := range handles {
		h := etltest.Heap{Handle: handle, Flags: 2, By: etltest.Caller{Thread: thread}}
		if p.Attached == 0 {
			h.Created = beforeStart/2 + int64(i+1)*tick
		}
		s.Heaps = append(s.Heaps, h)
	}
	for i := range p.Stacks {
		s.Stacks = append(s.Stacks, etltest.Stack{User: p.frames(i)})
	}
	p.events(s, by)
	return s
}

// events writes down the blocks, with no two events at one instant.
func (p *Process) events(s *etltest.Scenario, by func(stack int) etltest.Caller) {
	type event struct {
		at    float64
		died  bool
		stack int
		block int
	}
	blocks := 0
	for i := range p.Stacks {
		blocks += len(p.Stacks[i].blocks)
	}
	all := make([]event, 0, 2*blocks)
	for i := range p.Stacks {
		for k := range p.Stacks[i].blocks {
			b := &p.Stacks[i].blocks[k]
			if b.died < p.Attached {
				continue
			}
			if b.born >= p.Attached {
				all = append(all, event{b.born, false, i, k})
			}
			if b.died < p.Seconds {
				all = append(all, event{b.died, true, i, k})
			}
		}
	}
	// Equals are told apart, or they would have to keep their order, which costs as much again.
	slices.SortFunc(all, func(a, b event) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case b.died && !a.died: // births come first
			return -1
		case a.died && !b.died:
			return 1
		case a.stack != b.stack:
			return a.stack - b.stack
		}
		return a.block - b.block
	})
	s.Blocks = slices.Grow(s.Blocks, blocks)
	places := make([]map[int]int, len(p.Stacks))
	for i := range places {
		places[i] = map[int]int{}
	}
	last := int64(beforeStart)
	for _, e := range all {
		b := &p.Stacks[e.stack].blocks[e.block]
		at := max(beforeStart+int64((e.at-p.Attached)*nanoseconds), last+tick)
		last = at
		if e.died {
			place, known := places[e.stack][e.block]
			if !known { // it is older than the trace
				s.Blocks = append(s.Blocks, etltest.Block{Heap: int(b.heap), Address: b.address, Size: b.bytes, Source: 3})
				place = len(s.Blocks) - 1
			}
			s.Blocks[place].Freed, s.Blocks[place].FreedBy = at, etltest.Caller{Thread: by(0).Thread}
			continue
		}
		made := etltest.Block{Heap: int(b.heap), Address: b.address, Size: b.bytes, Source: 2, Allocated: at, By: by(e.stack)}
		if b.movedFrom >= 0 {
			if from, ok := places[e.stack][int(b.movedFrom)]; ok {
				made.MovedFrom = from + 1
			}
		}
		places[e.stack][e.block] = len(s.Blocks)
		s.Blocks = append(s.Blocks, made)
	}
	s.End = max(s.End, last+tick)
}
