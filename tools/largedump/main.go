// Command largedump writes a full dump of a 64-bit Windows 10 process with one heap of many blocks, each with its
// stack, and private memory beside it: of zeros, which take no room on disks that know holes, or with pointers to
// blocks all over the heap. docs/performance.md measures with it.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"time"

	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

func main() {
	blocks := flag.Uint64("blocks", 4_000_000, "busy blocks")
	size := flag.Uint64("size", 160, "requested `bytes` of the largest blocks")
	private := flag.Uint64("private", 1<<30, "`bytes` of private memory beside the heap")
	every := flag.Uint64("pointers", 0, "one in so many `words` of that memory points to a block; 0 for none")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: largedump [flags] FILE")
		os.Exit(2)
	}
	p := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 1, Stacks: true}, *blocks, *size)
	program := dumptest.Program{PID: 4660, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Private: []uint64{*private}}
	if *every > 0 {
		program.Contents = &pointers{p, *every}
	}
	n, err := dumptest.Of(p.Process, program).Create(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d bytes, %d blocks\n", flag.Arg(0), n, *blocks)
}

// pointers is memory of zeros in which one word in every points to a block.
type pointers struct {
	to    *ntheaptest.LargeProcess
	every uint64
}

// ReadAt implements io.ReaderAt. It writes whole words: what asks for less gets zeros there.
func (s *pointers) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	for at := (uint64(off) + 7) / 8; at*8+8 <= uint64(off)+uint64(len(p)); at++ {
		if at%s.every == 0 {
			n := at * 0x9E3779B97F4A7C15 >> 16 % s.to.Count
			binary.LittleEndian.PutUint64(p[at*8-uint64(off):], s.to.Block(n).Address)
		}
	}
	return len(p), nil
}
