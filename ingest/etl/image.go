package etl

// Images: load is group 3 op 10, unload, DCStart and DCEnd are group 0x14 ops 2, 3 and 4. Fields by wmicore.mof
// (Image_Load) and real traces of every version:
//
//	v0  Base P, Size u32, FileName
//	v1  Base P, Size P, PID u32, FileName
//	v2  Base P, Size P, PID u32, CheckSum u32, TimeDateStamp u32, Reserved0 u32, DefaultBase P, Reserved1-4 u32, FileName
//	v3  as v2; Reserved0 is SignatureLevel u8, SignatureType u8, u16
//
// FileName is UTF-16 up to a zero: a path of the kernel, \Device\HarddiskVolume3\….

// ImageEvent is an executable file in the address space of a process. PID is 0 for the kernel, and NoID in version 0
// where the event's header names no process either. Size is in bytes.
type ImageEvent struct {
	Base, Size    uint64
	PID           uint32
	CheckSum      uint32
	TimeDateStamp uint32 // of the PE header
	Path          string // as the kernel names the file: \Device\HarddiskVolume3\…
}

// Image decodes KindImageLoad, KindImageUnload, KindImageDCStart and KindImageDCEnd. ok is false where the payload is
// too short.
func (e *Event) Image() (i ImageEvent, ok bool) {
	switch {
	case e.Version >= 2:
		if !e.has(32, 3) {
			return i, false
		}
		i = ImageEvent{Base: e.p(0, 0), Size: e.p(0, 1), PID: e.u32(0, 2), CheckSum: e.u32(4, 2), TimeDateStamp: e.u32(8, 2)}
		i.Path, _ = utf16z(e.from(32, 3))
	case e.Version == 1:
		if !e.has(4, 2) {
			return i, false
		}
		i = ImageEvent{Base: e.p(0, 0), Size: e.p(0, 1), PID: e.u32(0, 2)}
		i.Path, _ = utf16z(e.from(4, 2))
	default:
		if !e.has(4, 1) {
			return i, false
		}
		i = ImageEvent{Base: e.p(0, 0), Size: uint64(e.u32(0, 1)), PID: e.PID}
		i.Path, _ = utf16z(e.from(4, 1))
	}
	return i, true
}
