package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/umdh/umdhtest"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// A tillBuild is a build of till.exe: how its code differs from others', and what it leaks.
type tillBuild struct {
	number  int      // code and lines of each build lie elsewhere, in images of one size
	leaking []string // functions that free nothing
	renamed bool     // Receipt::Append is called Receipt::AppendLine
}

// The functions of till.exe that allocate, each called by Till::Serve; that is called by main.
var tillFunctions = []string{"Cache::Put", "Log::Write", "Order::Copy", "Pool::Take", "Receipt::Append", "Session::Open"}

const (
	tillBase      = 0x7FF6_0000_0000
	tillHeap      = 0x1B0_003F_0000
	tillSnapshots = 12 // five minutes apart
	callLength    = 5
	callRoom      = 0x20 // between two calls of a function
	perInterval   = 22   // blocks that a leak leaves between two snapshots, on average
)

// program is the code of the build.
func (b *tillBuild) program() *pdbtest.Program {
	at := uint32(0x10 + 0x40*b.number)
	function := func(name, file string, calls ...string) pdbtest.Function {
		f := pdbtest.Function{Name: name, Decorated: name, Address: pdbtest.Address{Section: 1, Offset: at},
			Length: uint32(len(calls)+2) * callRoom}
		f.Lines = []pdbtest.Line{{File: `c:\till\` + file, Line: uint32(10 + 3*b.number)}}
		for i, target := range calls {
			offset := uint32(i+1) * callRoom
			f.Calls = append(f.Calls, pdbtest.Call{Offset: offset, Length: callLength, Target: target})
			f.Lines = append(f.Lines, pdbtest.Line{Offset: offset - 4, File: f.Lines[0].File, Line: f.Lines[0].Line + uint32(i) + 1})
		}
		at += (f.Length + 0x2F) &^ 0xF
		return f
	}
	var list []pdbtest.Function
	for _, name := range tillFunctions {
		class, _, _ := strings.Cut(name, "::")
		list = append(list, function(b.name(name), strings.ToLower(class)+".cpp", "main")) // what it calls is of no interest
	}
	var served []string
	for _, name := range tillFunctions {
		served = append(served, b.name(name))
	}
	list = append(list, function("Till::Serve", "till.cpp", served...), function("main", "main.cpp", "Till::Serve"))
	return &pdbtest.Program{GUID: [16]byte{5: byte(b.number)}, Age: 1, Signature: uint32(b.number),
		Sections: pdbtest.Standard(0x4000), Modules: []pdbtest.Module{{Name: "till.obj", Functions: list}}}
}

// name is what the build calls a function.
func (b *tillBuild) name(function string) string {
	if b.renamed && function == "Receipt::Append" {
		return "Receipt::AppendLine"
	}
	return function
}

// write writes the files of the build to folders: its symbols, and the logs of a run.
func (b *tillBuild) write(t *testing.T) (symbols, logs string) {
	t.Helper()
	symbols, logs = t.TempDir(), t.TempDir()
	program := b.program()
	image, err := petest.Of(program, "till.pdb")
	if err != nil {
		t.Fatal(err)
	}
	exe, err := image.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	pdb, err := program.PDB()
	if err != nil {
		t.Fatal(err)
	}
	process := b.process(program, uint64(image.SizeOfImage()))
	files := map[string][]byte{filepath.Join(symbols, "till.exe"): exe, filepath.Join(symbols, "till.pdb"): pdb}
	blocks := b.run()
	for k := range tillSnapshots {
		var log bytes.Buffer
		if err := process.WriteSnapshot(&log, tillSnapshot(blocks, k)); err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(logs, fmt.Sprintf("%02d.txt", k))] = log.Bytes()
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return symbols, logs
}

// process is till.exe as umdh sees it, a stack for each function.
func (b *tillBuild) process(p *pdbtest.Program, size uint64) *umdhtest.Process {
	functions := p.Modules[0].Functions
	after := func(function, call int) umdhtest.Frame { // the return address of a call
		f := &functions[function]
		return umdhtest.Frame{Address: tillBase + uint64(p.RVA(f.Address)+f.Calls[call].Offset+callLength)}
	}
	made := &umdhtest.Process{PID: 42, Machine: "LAB", UMDHVersion: "10.0.19041.1", Modules: []umdhtest.Module{
		{Path: `C:\till\till.exe`, Base: tillBase, Size: size, Symbols: umdhtest.NoSymbols}}}
	for i := range tillFunctions {
		made.Stacks = append(made.Stacks, umdhtest.Stack{ID: 0x1000 + uint64(i), Frames: []umdhtest.Frame{
			after(i, 0), after(len(tillFunctions), i), after(len(tillFunctions)+1, 0)}})
	}
	return made
}

// A tillBlock lives between two instants, which count in snapshots.
type tillBlock struct {
	stack      int32
	born, died float64
}

// run is what a run of the build allocates. Cache::Put fills up, Pool::Take allocates at the start, and sessions come
// and go; other functions free what they allocate, or leak it.
func (b *tillBuild) run() (blocks []tillBlock) {
	r := rand.New(rand.NewPCG(uint64(b.number), 1))
	for i, function := range tillFunctions {
		add := func(n int, from, to, lives float64) {
			for range n {
				born := from + (to-from)*r.Float64()
				blocks = append(blocks, tillBlock{int32(i), born, born + lives*r.ExpFloat64()})
			}
		}
		const forever, end = 1e9, tillSnapshots
		switch {
		case slices.Contains(b.leaking, function):
			add(perInterval*end, 0, end, forever)
		case function == "Cache::Put":
			add(100, -1, 2, forever)
		case function == "Pool::Take":
			add(30, -1, 0, forever)
		default:
			add(100*end, 0, end, 0.3)
		}
	}
	return blocks
}

// tillSnapshot is what is live at the instant of a snapshot.
func tillSnapshot(blocks []tillBlock, k int) *umdhtest.Snapshot {
	s := &umdhtest.Snapshot{Time: time.Date(2026, 3, 2, 8, 5*k, 0, 0, time.UTC), Heaps: []umdhtest.Heap{{Handle: tillHeap}}}
	for i, b := range blocks {
		if b.born <= float64(k) && float64(k) < b.died {
			s.Heaps[0].Blocks = append(s.Heaps[0].Blocks, umdhtest.Block{Address: tillHeap + 0x1000 + 0x60*uint64(i), Requested: 64,
				Overhead: 16, Stack: b.stack})
		}
	}
	return s
}
