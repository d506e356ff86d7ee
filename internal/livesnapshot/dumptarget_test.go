package livesnapshot

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"sort"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/minidump"
)

// A dumpTarget is the process of a dump as one that runs: its memory and its regions are those of the dump.
type dumpTarget struct {
	dump    *minidump.Dump
	regions []minidump.Region
	threads []minidump.Thread
	known   facts

	suspended, resumed, closed atomic.Int64
	// read and query replace those of the dump, where they are not nil.
	read  func(p []byte, addr uint64) (int, error)
	query func(addr uint64) (minidump.Region, error)
	// onResume is called when the process goes on; nil is nothing.
	onResume  func()
	unguarded error // of Guard
	// files are the paths of mapped images.
	files map[uint64]string
}

func serveDump(t testing.TB, data []byte) *dumpTarget {
	t.Helper()
	return serve(t, bytes.NewReader(data), int64(len(data)))
}

func serve(t testing.TB, data io.ReaderAt, size int64) *dumpTarget {
	t.Helper()
	d, err := minidump.Open(t.Context(), data, size)
	if err != nil {
		t.Fatal(err)
	}
	target := &dumpTarget{dump: d}
	if target.regions, err = d.Regions(); err != nil || len(target.regions) == 0 {
		t.Fatalf("regions: %d, %v", len(target.regions), err)
	}
	if target.threads, err = d.Threads(); err != nil {
		t.Fatal(err)
	}
	process, err := d.Process()
	if err != nil {
		t.Fatal(err)
	}
	target.known = facts{Host: "TEST", System: d.System(), Process: process}
	at, width := uint64(0x60), 8
	if d.System().Bits == 32 {
		at, width = 0x30, 4
	}
	var peb [8]byte
	if _, err := d.Memory().ReadMemory(peb[:width], target.threads[0].TEB+at); err != nil {
		t.Fatal(err)
	}
	target.known.PEB = binary.LittleEndian.Uint64(peb[:])
	return target
}

// readDump reads a dump of the corpus.
func readDump(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	data, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (d *dumpTarget) ReadMemory(p []byte, addr uint64) (int, error) {
	if d.read != nil {
		return d.read(p, addr)
	}
	return d.dump.Memory().ReadMemory(p, addr)
}

// Query answers as VirtualQueryEx does.
func (d *dumpTarget) Query(addr uint64) (minidump.Region, error) {
	if d.query != nil {
		return d.query(addr)
	}
	return d.region(addr)
}

// region is that of the dump; what no region covers is free.
func (d *dumpTarget) region(addr uint64) (minidump.Region, error) {
	i := sort.Search(len(d.regions), func(i int) bool { return d.regions[i].Base+(d.regions[i].Size-1) >= addr })
	if i == len(d.regions) {
		return minidump.Region{}, errEnd
	}
	r := d.regions[i]
	if r.Base > addr {
		return minidump.Region{Base: addr, Size: r.Base - addr, State: minidump.MemFree}, nil
	}
	return r, nil
}

func (d *dumpTarget) Guard() error   { return d.unguarded }
func (d *dumpTarget) Suspend() error { d.suspended.Add(1); return nil }
func (d *dumpTarget) Resume() error {
	d.resumed.Add(1)
	if d.onResume != nil {
		d.onResume()
	}
	return nil
}
func (d *dumpTarget) Clone() (space, error)               { return nil, errNoClone }
func (d *dumpTarget) Facts() facts                        { return d.known }
func (d *dumpTarget) Threads() ([]minidump.Thread, error) { return d.threads, nil }
func (d *dumpTarget) MappedFile(base uint64) string       { return d.files[base] }
func (d *dumpTarget) Close()                              { d.closed.Add(1) }
