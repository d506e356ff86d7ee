package dump

const gigabyte = 1 << 30

// limit is how much address space a 32-bit program may use, 0 where the dump does not tell. A program that is linked
// with /LARGEADDRESSAWARE has 4 GB on 64-bit Windows; on 32-bit Windows it has what the system was started with, 2 GB
// or 3. All others have 2 GB.
func (p *process) limit() int64 {
	if p.bits() != 32 {
		return 0
	}
	aware, known := p.largeAddressAware()
	switch {
	case known && !aware:
		return 2 * gigabyte
	case known && p.wow64:
		return 4 * gigabyte
	case p.wow64 || len(p.regions) == 0:
		return 0
	}
	// VirtualQuery answers up to the end of what the program may use, free or not, and the last 64 KB are nobody's.
	last := p.regions[len(p.regions)-1]
	end := last.Base + (last.Size - 1)
	return int64(min(4, max(2, end/gigabyte+1)) * gigabyte)
}

// largeAddressAware asks the header of the program's image in memory (winnt.h):
//
//	IMAGE_DOS_HEADER   e_magic "MZ" 0x00, e_lfanew u32 0x3C
//	IMAGE_NT_HEADERS   Signature "PE\0\0" 0x00, FileHeader 0x04 with Characteristics u16 at 0x12 of it
func (p *process) largeAddressAware() (aware, known bool) {
	const (
		lfanew          = 0x3C
		signature       = 0x4550
		characteristics = 0x04 + 0x12
		flag            = 0x20 // IMAGE_FILE_LARGE_ADDRESS_AWARE
	)
	if len(p.modules) == 0 {
		return false, false
	}
	image := pointers{p.memory, 32}
	head := p.modules[0].Base
	magic, ok := image.u32(head)
	at, ok2 := image.u32(head + lfanew)
	if !ok || !ok2 || magic&0xFFFF != 0x5A4D {
		return false, false
	}
	if s, ok := image.u32(head + uint64(at)); !ok || s != signature {
		return false, false
	}
	flags, ok := image.u32(head + uint64(at) + characteristics)
	return flags&flag != 0, ok
}
