package umdhtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A ProcessSize says how large a process Invent makes. Zero fields get small defaults.
type ProcessSize struct {
	Bits    int // 32 or 64
	Modules int // with code of the process's own
	Heaps   int // how many
	Stacks  int // distinct ones
	Blocks  int // held at the first snapshot
}

// An Invention is a made-up process that lives on: some stacks keep what they have, some come and go, and a few
// leak.
type Invention struct {
	Process
	seed  uint64
	size  ProcessSize
	heaps []uint64
}

const depth = 32 // frames the trace database keeps

// Invent makes up a process. The same seed and size give the same one.
func Invent(seed uint64, size ProcessSize) *Invention {
	defaults := ProcessSize{Bits: 64, Modules: 3, Heaps: 2, Stacks: 24, Blocks: 200}
	for _, f := range []struct{ field, value *int }{
		{&size.Bits, &defaults.Bits}, {&size.Modules, &defaults.Modules}, {&size.Heaps, &defaults.Heaps},
		{&size.Stacks, &defaults.Stacks}, {&size.Blocks, &defaults.Blocks},
	} {
		if *f.field == 0 {
			*f.field = *f.value
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &Invention{seed: seed, size: size}
	p.PID, p.Machine, p.UMDHVersion = 1000+uint32(rng.IntN(8000))*4, "LAB-"+string(rune('A'+rng.IntN(26))), "10.0.19041.1"
	base, gap, heap := uint64(0x7FF600000000), uint64(0x1000000), uint64(0x1D000000000)
	if size.Bits == 32 {
		p.UMDHVersion, base, gap, heap = "6.1.7650.0", 0x50000000, 0x200000, 0x1E0000
	}
	p.load(rng, base, gap)
	for range size.Heaps {
		p.heaps = append(p.heaps, heap)
		heap += 1<<24 + uint64(size.Blocks)<<10&^0xFFFF // 1 KiB a block is room for more than come
	}
	id := uint64(0x100 + rng.IntN(0x10000)*4)
	for range size.Stacks {
		p.Stacks = append(p.Stacks, Stack{ID: id, Frames: p.walk(rng)})
		id += uint64(4 + rng.IntN(1<<14)*4)
	}
	return p
}

// load makes the modules up: the process's own, and those that every process has.
func (p *Invention) load(rng *rand.Rand, base, gap uint64) {
	add := func(path, symbols, pdb string) {
		m := Module{Path: path, Base: base, Size: 0x40000 + uint64(rng.IntN(int(gap>>13)))<<12, Symbols: symbols, PDB: pdb}
		p.Modules = append(p.Modules, m)
		base += gap * 2
	}
	for i := range p.size.Modules {
		name := fmt.Sprintf("part%02d", i)
		if i == 0 {
			add(`C:\Program Files (x86)\Made Up\app.exe`, PrivateSymbols, `.\app.pdb`)
			continue
		}
		add(`C:\Program Files (x86)\Made Up\`+name+".dll", PrivateSymbols, `.\`+name+".pdb")
	}
	store := func(pdb string) string {
		return fmt.Sprintf(`c:\symbols\%s.pdb\%016X%016X1\%s.pdb`, pdb, rng.Uint64()|1<<63, rng.Uint64()|1<<63, pdb)
	}
	add(`C:\Windows\System32\ntdll.dll`, PublicSymbols, store("ntdll"))
	add(`C:\Windows\System32\KERNELBASE.dll`, NoSymbols, "")
	add(`C:\Windows\System32\kernel32.dll`, PublicSymbols, store("kernel32"))
	add(`C:\Windows\System32\ucrtbase.dll`, ExportSymbols, "")
}

// frame makes up a call in a function of a module: function and call number give the address.
func (p *Invention) frame(module, function, call int, name string) Frame {
	const room = 0x400 // bytes of each function
	m := &p.Modules[module]
	functions := int(m.Size / room)
	offset := uint64(5 + call*37%(room-8))
	f := Frame{Address: m.Base + uint64(function%functions)*room + offset, Function: name, Offset: offset}
	if m.Symbols == PrivateSymbols {
		f.File, f.Line = fmt.Sprintf(`c:\src\%s\unit%d.cpp`, m.name(), function%50), 10+function%700+call
	}
	return f
}

// walk makes up a stack: the allocator's frames, calls among a few functions of the process, the start of a thread.
// What is deeper than the database keeps loses its outer end.
func (p *Invention) walk(rng *rand.Rand) []Frame {
	own := p.size.Modules
	frames := []Frame{p.frame(own, 1, 2, "RtlAllocateHeap")}
	switch rng.IntN(4) {
	case 0:
		frames = append(frames, p.frame(own+1, 3, 1, "")) // no symbols: an address
	case 1:
		frames = append(frames, p.frame(own+3, 7, 3, "_malloc_base"))
	default:
		frames = append(frames, p.frame(own+3, 7, 3, "_malloc_base"), p.frame(0, 2, 1, "operator new"))
	}
	functions := max(16, p.size.Stacks/8) // calls of each, so that stacks share frames as they do in life
	function := rng.IntN(functions)
	for range 2 + rng.IntN(depth) {
		call := rng.IntN(4)
		frames = append(frames, p.frame(function%own, function, call, named(function)))
		function = (function*31 + call*17 + 7) % functions
	}
	frames = append(frames, p.frame(own+2, 9, 1, "BaseThreadInitThunk"), p.frame(own, 12, 1, "RtlUserThreadStart"))
	return frames[:min(depth, len(frames))]
}

// named gives functions the kinds of names that readers stumble over.
func named(function int) string {
	class := fmt.Sprintf("Unit%d::Part%d", function%50, function)
	switch function % 7 {
	case 0:
		return class + "::operator++"
	case 1:
		return "std::map<int,std::pair<char const *,Part> >::operator[]"
	case 2:
		return strings.ToLower(class) + "::`anonymous namespace'::Load"
	case 3:
		return class + "::operator()"
	}
	return class + "::Run"
}

// Snapshot is what the process holds at instant k, from 0; they are ten minutes apart. A block that is there in two
// snapshots has the same address in both.
func (p *Invention) Snapshot(k int) *Snapshot {
	s := &Snapshot{Time: time.Date(2025, 3, 4, 12, 0, 0, 0, time.UTC).Add(time.Duration(k) * 10 * time.Minute)}
	leaks := max(1, p.size.Stacks/100)
	for h, handle := range p.heaps {
		rng := rand.New(rand.NewPCG(p.seed, uint64(h)+2))
		pick := rand.NewZipf(rng, 1.2, 1, uint64(p.size.Stacks-1))
		heap := Heap{Handle: handle}
		address := handle + 0x880
		share := p.size.Blocks / len(p.heaps)
		heap.Blocks = make([]Block, 0, share)
		for i := range share + share*k/10 {
			stack := int32(pick.Uint64())
			size, fate := uint64(8+rng.IntN(504)), rng.IntN(8)
			whole := (size + 0x1F) &^ 0xF
			if p.size.Bits == 64 {
				whole = (size + 0x3F) &^ 0xF
			}
			if i >= share { // what came since the first snapshot
				stack = int32(i % leaks)
			} else if fate == 0 && int(stack) >= leaks && (i+k)%2 == 0 {
				stack = -1 // freed at this instant
			}
			if stack >= 0 {
				heap.Blocks = append(heap.Blocks, Block{Address: address, Requested: size, Overhead: whole - size, Stack: stack})
			}
			address += whole
		}
		s.Heaps = append(s.Heaps, heap)
	}
	return s
}
