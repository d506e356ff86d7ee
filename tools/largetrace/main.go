// Command largetrace writes a heap trace of a 64-bit process with many allocations, whose stacks are keys that are
// defined at the end of the session, as Windows logs them with stack caching. docs/performance.md measures with it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"heapdrift/ingest/etl/etltest"
)

func main() {
	var size etltest.LargeSize
	flag.IntVar(&size.Allocs, "allocs", 6_750_000,
		"allocations; each has a free, but one in a hundred, and both have a stack")
	flag.IntVar(&size.Stacks, "stacks", 5000, "distinct stacks")
	flag.IntVar(&size.Frames, "frames", 32, "frames of a stack")
	flag.IntVar(&size.Live, "live", 100_000, "blocks that are live at any time")
	keys := flag.Int("keys", 1<<20, "`stacks` that the session's cache has room for; 0 writes whole stacks")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: largetrace [flags] FILE")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), size, *keys); err != nil {
		fmt.Fprintln(os.Stderr, "largetrace:", err)
		os.Exit(1)
	}
}

func write(name string, size etltest.LargeSize, keys int) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	truth, err := etltest.Large(f, 1, etltest.Format{Keys: keys}, size)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, %d events of the heap and of stacks, %d allocations, %d stacks\n", name, info.Size(),
		truth.Events, truth.Allocs, size.Stacks)
	return nil
}
