package dump

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"heapdrift/ingest/minidump"
)

// A side is what one width of code sees of the process. A 32-bit process on 64-bit Windows has two: its own, and that
// of WOW64 below it, each with a PEB and heaps of its own.
type side struct {
	pointers
	peb uint64
}

// tebLayout is where the fields of a thread's environment block lie (winternl.h and the public PDBs of ntdll, _TEB and
// _NT_TIB).
type tebLayout struct {
	stackBase, stackLimit, deallocation uint64
	peb                                 uint64
	size                                uint64 // in whole pages
}

var tebs = map[int]tebLayout{
	64: {stackBase: 0x08, stackLimit: 0x10, deallocation: 0x1478, peb: 0x60, size: 0x2000},
	32: {stackBase: 0x04, stackLimit: 0x08, deallocation: 0xE0C, peb: 0x30, size: 0x1000},
}

// pebLayout is where the fields of the process environment block lie (_PEB and _RTL_USER_PROCESS_PARAMETERS of the
// same).
type pebLayout struct {
	imageBase, loader, parameters uint64
	imagePath, commandLine        uint64 // UNICODE_STRINGs in the parameters
}

var pebs = map[int]pebLayout{
	64: {imageBase: 0x10, loader: 0x18, parameters: 0x20, imagePath: 0x60, commandLine: 0x70},
	32: {imageBase: 0x08, loader: 0x0C, parameters: 0x10, imagePath: 0x38, commandLine: 0x40},
}

// A process is what a source tells, as the rest of this package looks at it.
type process struct {
	source   Source
	memory   Memory
	modules  []minidump.Module
	unloaded []minidump.UnloadedModule
	threads  []minidump.Thread
	regions  []minidump.Region
	bases    map[uint64]bool // of modules
	system   minidump.System
	wow64    bool
	sides    []side // the program's own first
	stacks   []threadStack
	virtual  int64 // committed pieces of capture.UsePrivate
	problems []problem
}

// A problem is something that could not be read.
type problem struct {
	what string
	err  error
}

func (p *process) failed(what string, err error) {
	if err != nil {
		p.problems = append(p.problems, problem{what, err})
	}
}

// openProcess reads the lists of a source and finds the environment blocks.
func openProcess(ctx context.Context, d Source) (*process, error) {
	p := &process{source: d, memory: d.Memory(), system: d.System()}
	var err error
	p.modules, err = d.Modules()
	p.failed("the modules", err)
	p.unloaded, err = d.Unloaded()
	p.failed("the unloaded modules", err)
	p.threads, err = d.Threads()
	p.failed("the threads", err)
	p.regions, err = d.Regions()
	p.failed("the regions", err)
	p.regions = usable(p.regions)
	p.bases = make(map[uint64]bool, len(p.modules))
	for _, m := range p.modules {
		p.bases[m.Base] = true
		if p.system.Bits == 64 && strings.EqualFold(fileName(m.Path), "wow64.dll") {
			p.wow64 = true
		}
	}
	return p, p.findSides(ctx)
}

// usable are the regions that a program may have: none lies above 2^63, so that sums of their sizes fit in an int64.
func usable(regions []minidump.Region) []minidump.Region {
	kept := regions[:0]
	for _, r := range regions {
		if r.Base < math.MaxInt64 {
			r.Size = min(r.Size, math.MaxInt64-r.Base)
			kept = append(kept, r)
		}
	}
	return kept
}

func fileName(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }

// native is the width of the system's own side.
func (p *process) native() int {
	if p.system.Bits == 32 {
		return 32
	}
	return 64
}

// bits is the width of the program.
func (p *process) bits() int {
	if p.wow64 {
		return 32
	}
	return p.native()
}

// findSides follows the threads' environment blocks to the process's, or looks for it where there are no threads: those
// of a clone of the process have none.
func (p *process) findSides(ctx context.Context) error {
	own := side{pointers: pointers{p.memory, p.native()}}
	for _, t := range p.threads {
		if peb, ok := own.at(t.TEB + tebs[own.bits].peb); ok && p.isPEB(own.pointers, peb) {
			own.peb = peb
			break
		}
	}
	if own.peb == 0 {
		var err error
		if own.peb, err = p.searchPEB(ctx, own.pointers); err != nil {
			return err
		}
	}
	p.sides = []side{own} // without a PEB, too: heaps are known by their signs
	if !p.wow64 {
		return nil
	}
	wow := side{pointers: pointers{p.memory, 32}}
	for _, t := range p.threads {
		teb := p.wowTEB(t)
		if peb, ok := wow.at(teb + tebs[32].peb); ok && p.isPEB(wow.pointers, peb) {
			wow.peb = peb
			break
		}
	}
	if wow.peb == 0 {
		var err error
		if wow.peb, err = p.searchPEB(ctx, wow.pointers); err != nil {
			return err
		}
	}
	p.sides = slices.Insert(p.sides, 0, wow)
	return nil
}

// wowTEB is where the 32-bit environment block of a thread lies. The 64-bit block points to it with its list of
// exception handlers, which 64-bit code does not use. In all versions of Windows the 32-bit block lies behind the
// 64-bit one.
func (p *process) wowTEB(t minidump.Thread) uint64 {
	const behind = 0x2000
	if teb, ok := (pointers{p.memory, 64}).at(t.TEB); ok && teb != 0 && teb < 1<<32 {
		return teb
	}
	return t.TEB + behind
}

// isPEB reports whether an address is that of an environment block: its image base is one of the modules.
func (p *process) isPEB(m pointers, address uint64) bool {
	base, ok := m.at(address + pebs[m.bits].imageBase)
	if !ok || base == 0 {
		return false
	}
	return len(p.bases) == 0 || p.bases[base]
}

// searchPEB looks at the beginning of every page for a block that names the program's image and a loader.
func (p *process) searchPEB(ctx context.Context, m pointers) (uint64, error) {
	if len(p.modules) == 0 {
		return 0, nil
	}
	image, layout := p.modules[0].Base, pebs[m.bits]
	v := &view{memory: p.memory}
	for _, r := range p.memory.Ranges() {
		if ctx.Err() != nil {
			return 0, fmt.Errorf("dump: %w", context.Cause(ctx))
		}
		for at := (r.Address + pageBytes - 1) &^ (pageBytes - 1); at >= r.Address &&
			at-r.Address+64 <= r.Size; at += pageBytes {
			head := v.bytes(at, 64)
			if len(head) < 64 || number(head[layout.imageBase:], m.bits) != image {
				continue
			}
			if loader := number(head[layout.loader:], m.bits); loader != 0 && loader%8 == 0 && p.has(loader) &&
				p.has(number(head[layout.parameters:], m.bits)) {
				return at, nil
			}
		}
	}
	return 0, nil
}

// has reports whether the source has what lies at an address.
func (p *process) has(address uint64) bool {
	var b [1]byte
	n, _ := p.memory.ReadMemory(b[:], address)
	return n == 1
}

// number reads a pointer from bytes.
func number(b []byte, bits int) uint64 {
	if bits == 32 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// command returns the path of the image and the command line that the process was started with.
func (p *process) command() (image, line string) {
	for _, s := range p.sides {
		layout := pebs[s.bits]
		if s.peb == 0 {
			continue
		}
		parameters, ok := s.at(s.peb + layout.parameters)
		if !ok || parameters == 0 {
			continue
		}
		if image, line = s.text(parameters+layout.imagePath), s.text(parameters+layout.commandLine); image != "" ||
			line != "" {
			return image, line
		}
	}
	return "", ""
}

// text reads a UNICODE_STRING: length in bytes u16 at 0, buffer at 4 or 8.
func (s side) text(address uint64) string {
	head, ok := s.u32(address)
	buffer, has := s.at(address + s.width())
	if !ok || !has || buffer == 0 {
		return ""
	}
	b := make([]byte, head&0xFFFE)
	n, _ := s.ReadMemory(b, buffer) // what is there
	units := make([]uint16, n/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
