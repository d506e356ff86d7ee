package livesnapshot

import (
	"cmp"
	"context"

	"heapdrift/ingest/minidump"
)

// A loaderLayout is where the loader of one width keeps its list (winternl.h and the public PDBs of ntdll, _PEB,
// _PEB_LDR_DATA and _LDR_DATA_TABLE_ENTRY).
type loaderLayout struct {
	pointer int    // bytes
	loader  uint64 // Ldr in the PEB
	list    uint64 // InLoadOrderModuleList in it
	// Of an entry, which begins with its links:
	base, size, path, timestamp uint64
	bytes                       int // that are read of it
}

var (
	loader64 = loaderLayout{pointer: 8, loader: 0x18, list: 0x10, base: 0x30, size: 0x40, path: 0x48, timestamp: 0x80,
		bytes: 0x88}
	loader32 = loaderLayout{pointer: 4, loader: 0x0C, list: 0x0C, base: 0x18, size: 0x20, path: 0x24, timestamp: 0x44,
		bytes: 0x48}
)

const (
	// mostModules is how many modules are taken from a list; processes have some hundreds.
	mostModules = 16 << 10
	// longestPath is how much of a path is read, in bytes.
	longestPath = 2 * 32767
)

// listModules takes the images of the process from the lists of its loaders, the program's own first, and images that
// no list has from the regions: a damaged list must not cost names. The memory of each must be that of an image.
func (s *source) listModules(ctx context.Context) {
	native, images := &loader64, s.images()
	if s.facts.System.Bits == 32 {
		native = &loader32
	}
	seen := map[uint64]bool{}
	var found []minidump.Module
	if s.facts.WOW64PEB != 0 {
		found = s.listed(ctx, &loader32, s.facts.WOW64PEB, found)
	}
	found = s.listed(ctx, native, s.facts.PEB, found)
	for _, m := range found {
		size, isImage := images[m.Base]
		if !isImage || seen[m.Base] {
			continue
		}
		seen[m.Base] = true
		m.Size = min(cmp.Or(m.Size, size), size)
		m.PDB, m.DebugID, m.Age, m.FromImage = minidump.ImagePDB(s.memory, m.Base)
		s.modules = append(s.modules, m)
	}
	for i := range s.regions {
		base := s.regions[i].Base
		size, isImage := images[base]
		if !isImage || seen[base] || ctx.Err() != nil || s.regions[i].Type != minidump.MemImage {
			continue
		}
		seen[base] = true
		m := minidump.Module{Base: base, Size: size, Path: s.MappedFile(base)}
		if m.PDB, m.DebugID, m.Age, m.FromImage = minidump.ImagePDB(s.memory, base); m.Path != "" || m.FromImage {
			m.Path = cmp.Or(m.Path, m.PDB)
			s.modules, s.unlisted = append(s.modules, m), s.unlisted+1
		}
	}
}

// images are the bases and sizes of what is mapped as an image, or committed where an image begins.
func (s *source) images() map[uint64]uint64 {
	list := map[uint64]uint64{}
	for i := range s.regions {
		r := &s.regions[i]
		if r.State == minidump.MemFree || r.AllocationBase == 0 {
			continue
		}
		if r.Base == r.AllocationBase && r.State == minidump.MemCommit {
			list[r.Base] = r.Size
		} else if size, ok := list[r.AllocationBase]; ok && r.AllocationBase+size == r.Base {
			list[r.AllocationBase] = size + r.Size
		}
	}
	return list
}

// listed appends what the loader of one width lists, in the order of loading.
func (s *source) listed(ctx context.Context, l *loaderLayout, peb uint64, list []minidump.Module) []minidump.Module {
	var b [0x88]byte
	pointer := func(at uint64) uint64 {
		if n, _ := s.memory.ReadMemory(b[:l.pointer], at); n < l.pointer {
			return 0
		}
		return pointerAt(b[:], l.pointer)
	}
	if peb == 0 {
		return list
	}
	loader := pointer(peb + l.loader)
	if loader == 0 {
		return list
	}
	head, seen := loader+l.list, map[uint64]bool{}
	for at := pointer(head); at != 0 && at != head && !seen[at] && len(seen) < mostModules && ctx.Err() == nil; {
		seen[at] = true
		n, _ := s.memory.ReadMemory(b[:l.bytes], at)
		if n < int(l.timestamp)+4 {
			s.broken++
			break
		}
		next, path := pointerAt(b[:], l.pointer), b[l.path:]
		m := minidump.Module{Base: pointerAt(b[l.base:], l.pointer), Size: uint64(le.Uint32(b[l.size:])),
			Timestamp: le.Uint32(b[l.timestamp:])}
		m.Path = s.text(uint64(le.Uint16(path)), pointerAt(path[l.pointer:], l.pointer))
		if m.Base != 0 {
			list = append(list, m)
		}
		at = next
	}
	return list
}

// text reads UTF-16.
func (s *source) text(length, at uint64) string {
	b := make([]byte, min(length, longestPath)&^1)
	n, _ := s.memory.ReadMemory(b, at)
	return wide(b[:n])
}
