package pe

import "sort"

// RUNTIME_FUNCTION, sorted by BeginAddress:
//
//	x64    BeginAddress +0, EndAddress +4, UnwindInfoAddress +8; bit 0 of the last: it is the RVA of another entry
//	ARM64  BeginAddress +0, UnwindData +4; bits 0-1 Flag: 0 RVA of .xdata, 1 packed, 2 packed fragment, 3 reserved
//
// The first word of ARM64 .xdata has the function's length in bits 0-17, packed data has it in bits 2-12, both in
// instructions of 4 bytes.
const (
	x64Entry   = 12
	arm64Entry = 8
	chainMax   = 32 // parts that may lie between an address and the function's entry; linkers emit up to three
)

type unwindTable struct {
	at      int64 // file offset
	stride  int
	entries []byte
}

func (t *unwindTable) len() int           { return len(t.entries) / t.stride }
func (t *unwindTable) begin(i int) uint32 { return le.Uint32(t.entries[i*t.stride:]) }
func (t *unwindTable) offset(i int) int64 { return t.at + int64(i*t.stride) }

// FunctionBounds returns the bounds of the function that an RVA belongs to, from .pdata of x64 and ARM64 images: end is
// the first byte behind it. Where the linker has split a function into chained parts (UNW_FLAG_CHAININFO), the bounds
// are those of the primary part, which has the entry point. The RVA may lie before or behind them. It is false for
// other machines, and for what has no unwind data: leaf functions, which call nothing, and data. ARM64 does not chain:
// a fragment is returned as a function of its own.
func (f *File) FunctionBounds(rva uint32) (begin, end uint32, ok bool, err error) {
	f.mu.Lock()
	t, err := f.unwindLocked()
	f.mu.Unlock()
	if err != nil || t == nil {
		return 0, 0, false, err
	}
	i := sort.Search(t.len(), func(i int) bool { return t.begin(i) > rva }) - 1
	if i < 0 {
		return 0, 0, false, nil
	}
	entry := t.entries[i*t.stride : (i+1)*t.stride]
	if t.stride == arm64Entry {
		begin, end, err = f.arm64Bounds(entry, t.offset(i))
		return begin, end, err == nil && rva < end, err
	}
	if end := le.Uint32(entry[4:]); rva >= end {
		return 0, 0, false, nil
	}
	begin, end, err = f.primary(entry, t.offset(i))
	return begin, end, err == nil, err
}

// unwindLocked reads .pdata once; nil where there is none.
func (f *File) unwindLocked() (*unwindTable, error) {
	if f.unwind != nil {
		return f.unwind, nil
	}
	dir := f.dirs[dirException]
	stride := map[uint16]int{MachineAMD64: x64Entry, MachineARM64: arm64Entry}[f.info.Machine]
	if stride == 0 || dir.rva == 0 || dir.size == 0 {
		return nil, nil
	}
	at, _ := f.locate(dir.rva)
	b, err := f.readRVA(dir.rva, int64(dir.size))
	if err != nil {
		return nil, err
	}
	if len(b) < int(dir.size) {
		return nil, fail(CodeBadUnwind, at, "of the %d bytes of .pdata at RVA %#x %d are in the file",
			dir.size, dir.rva, len(b))
	}
	f.unwind = &unwindTable{at, stride, b}
	return f.unwind, nil
}

// primary follows the chain of an x64 entry, which lies at an offset of the file, to the function's primary entry.
func (f *File) primary(entry []byte, at int64) (begin, end uint32, err error) {
	for range chainMax {
		begin, end = le.Uint32(entry), le.Uint32(entry[4:])
		if begin >= end {
			return 0, 0, fail(CodeBadUnwind, at, "the function at RVA %#x ends at %#x", begin, end)
		}
		info := le.Uint32(entry[8:])
		next := info &^ 1
		if info&1 == 0 {
			// UNWIND_INFO: Version:3 Flags:5 +0, SizeOfProlog +1, CountOfCodes +2, codes of 2 bytes from +4, padded to
			// an even number; then, with UNW_FLAG_CHAININFO (4), the RUNTIME_FUNCTION that comes before.
			head, err := f.readRVA(info, 4)
			if err != nil {
				return 0, 0, err
			}
			if len(head) < 4 {
				return 0, 0, fail(CodeBadUnwind, at, "the unwind data at RVA %#x is not in the file", info)
			}
			const chained = 4
			if head[0]>>3&chained == 0 {
				return begin, end, nil
			}
			next = info + 4 + 2*((uint32(head[2])+1)&^1)
		}
		where, _ := f.locate(next)
		if entry, err = f.readRVA(next, x64Entry); err != nil {
			return 0, 0, err
		}
		if len(entry) < x64Entry {
			return 0, 0, fail(CodeBadUnwind, at, "the chained entry at RVA %#x is not in the file", next)
		}
		at = where
	}
	return 0, 0, fail(CodeBadUnwind, at, "more than %d chained entries: they form a circle", chainMax)
}

func (f *File) arm64Bounds(entry []byte, at int64) (begin, end uint32, err error) {
	begin = le.Uint32(entry)
	data := le.Uint32(entry[4:])
	var length uint32
	switch flag := data & 3; flag {
	case 0:
		xdata, err := f.readRVA(data, 4)
		if err != nil {
			return 0, 0, err
		}
		if len(xdata) < 4 {
			return 0, 0, fail(CodeBadUnwind, at, "the unwind data at RVA %#x is not in the file", data)
		}
		length = le.Uint32(xdata) & 0x3FFFF * 4
	case 1, 2:
		length = data >> 2 & 0x7FF * 4
	default:
		return 0, 0, fail(CodeBadUnwind, at, "the entry of the function at RVA %#x has the flag %d, which is reserved",
			begin, flag)
	}
	if end = begin + length; end < begin {
		return 0, 0, fail(CodeBadUnwind, at, "the function at RVA %#x runs past the end of the address space", begin)
	}
	return begin, end, nil
}
