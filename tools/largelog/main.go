// Command largelog writes a raw log of UMDH, or a series of them, about a 64-bit process with many blocks and stacks of
// random frames: the worst that a reader of logs has to number, name and sort. docs/performance.md measures with it.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"heapdrift/ingest/umdh/umdhtest"
)

// A recipe is what a log holds.
type recipe struct {
	blocks, heaps, stacks, frames, modules, logs int
}

func main() {
	var r recipe
	flag.IntVar(&r.blocks, "blocks", 2_000_000, "blocks of each log")
	flag.IntVar(&r.heaps, "heaps", 4, "heaps")
	flag.IntVar(&r.stacks, "stacks", 20_000, "distinct stacks")
	flag.IntVar(&r.frames, "frames", 32, "frames of a stack")
	flag.IntVar(&r.modules, "modules", 120, "modules that they lead through")
	flag.IntVar(&r.logs, "logs", 1,
		"logs of the process, ten minutes apart; from the second on a number is put behind the file's name")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: largelog [flags] FILE")
		os.Exit(2)
	}
	if err := r.write(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "largelog:", err)
		os.Exit(1)
	}
}

func (r *recipe) write(name string) error {
	rng := rand.New(rand.NewPCG(1, 15))
	p := &umdhtest.Process{PID: 4660, Machine: "LARGE", UMDHVersion: "10.0.19041.1"}
	for i := range r.modules {
		p.Modules = append(p.Modules, umdhtest.Module{Path: fmt.Sprintf(`C:\large\module%03d.dll`, i),
			Base: 0x7FF6_0000_0000 + uint64(i)<<24, Size: 0x80_0000, Symbols: umdhtest.NoSymbols})
	}
	for i := range r.stacks {
		s := umdhtest.Stack{ID: uint64(0x1000 + 16*i)}
		for range r.frames {
			m := &p.Modules[rng.IntN(len(p.Modules))]
			s.Frames = append(s.Frames, umdhtest.Frame{Address: m.Base + 0x1000 + rng.Uint64N(m.Size-0x1000)})
		}
		p.Stacks = append(p.Stacks, s)
	}
	for log := range r.logs {
		to := name
		if log > 0 {
			to = fmt.Sprintf("%s.%d", name, log+1)
		}
		n, err := create(to, p, r.snapshot(log))
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes, %d blocks, %d stacks\n", to, n, r.blocks, r.stacks)
	}
	return nil
}

// snapshot is what the process holds when a log is taken: half of the blocks are the same in all, the others come and
// go.
func (r *recipe) snapshot(log int) *umdhtest.Snapshot {
	rng := rand.New(rand.NewPCG(uint64(log), 16))
	s := &umdhtest.Snapshot{Time: time.Date(2026, 1, 2, 3, 10*log, 0, 0, time.UTC)}
	for h := range r.heaps {
		heap := umdhtest.Heap{Handle: 0x1000_0000 + uint64(h)<<36}
		n := r.blocks/r.heaps + min(1, max(0, r.blocks%r.heaps-h))
		for i := range n {
			place := 2 * uint64(i)
			if i%2 == 1 {
				place += rng.Uint64N(2)
			}
			heap.Blocks = append(heap.Blocks, umdhtest.Block{
				Address: heap.Handle + 0x1000 + 0x200*place, Requested: 16 + uint64(i*37%400), Overhead: 48,
				Stack: int32((i*7919 + h) % r.stacks),
			})
		}
		s.Heaps = append(s.Heaps, heap)
	}
	slices.SortFunc(s.Heaps, func(a, b umdhtest.Heap) int { return int(int64(a.Handle) - int64(b.Handle)) })
	return s
}

func create(name string, p *umdhtest.Process, s *umdhtest.Snapshot) (n int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(p.WriteSnapshot(w, s), w.Flush()); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
