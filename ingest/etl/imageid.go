package etl

// Identities of images, which a merge looks up in the files themselves and adds with the time stamp of the image's own
// event; provider b3e675d7-2554-4f18-830b-2762732560de. Layouts by real traces:
//
//	0  v2  ImageBase P, ImageSize P, PID u32, TimeDateStamp u32, OriginalFileName UTF-16
//	36 v2  ImageBase P, PID u32, GUID, Age u32, PdbName bytes

// ImageID is what the PE header of an image says.
type ImageID struct {
	Base, Size    uint64
	PID           uint32
	TimeDateStamp uint32
	OriginalName  string // file name in the version resource; "" for none
}

// ImageID decodes KindImageID. ok is false where the payload is too short.
func (e *Event) ImageID() (i ImageID, ok bool) {
	if !e.has(8, 2) {
		return i, false
	}
	i = ImageID{Base: e.p(0, 0), Size: e.p(0, 1), PID: e.u32(0, 2), TimeDateStamp: e.u32(4, 2)}
	i.OriginalName, _ = utf16z(e.from(8, 2))
	return i, true
}

// ImageRSDS is what the debug directory of an image says about its PDB.
type ImageRSDS struct {
	Base uint64
	PID  uint32
	GUID GUID
	Age  uint32
	PDB  string // as the linker wrote it, often a path
}

// ImageRSDS decodes KindImageRSDS. ok is false where the payload is too short.
func (e *Event) ImageRSDS() (r ImageRSDS, ok bool) {
	if !e.has(24, 1) {
		return r, false
	}
	r = ImageRSDS{Base: e.p(0, 0), PID: e.u32(0, 1), GUID: GUID(e.from(4, 1)[:16]), Age: e.u32(20, 1)}
	r.PDB, _ = asciiz(e.from(24, 1))
	return r, true
}
