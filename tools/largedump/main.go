// Command largedump writes a full dump of a 64-bit Windows 10 process with one heap of many blocks, each with its stack, and private
// memory of zeros beside it, which takes no room on disks that know holes. docs/performance.md measures with it.
package main

import (
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
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: largedump [flags] FILE")
		os.Exit(2)
	}
	p := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 1, Stacks: true}, *blocks, *size)
	n, err := dumptest.Of(p.Process, dumptest.Program{PID: 4660, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Private: []uint64{*private}}).Create(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d bytes, %d blocks\n", flag.Arg(0), n, *blocks)
}
