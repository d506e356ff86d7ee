package minidump

// A Handle is a handle that the process held open (MINIDUMP_HANDLE_DESCRIPTOR, 32 bytes, and _2, 40):
//
//	Handle u64          0x00
//	TypeNameRva u32     0x08   0 for none
//	ObjectNameRva u32   0x0C
//	Attributes u32      0x10
//	GrantedAccess u32   0x14
//	HandleCount u32     0x18   to the object, in all processes
//	PointerCount u32    0x1C
//	ObjectInfoRva u32   0x20   of _2: what the object is, by its type
type Handle struct {
	Handle        uint64 // its value in the process
	Type          string // "Event"; "" where the writer could not tell
	Name          string // of the object
	Attributes    uint32
	GrantedAccess uint32
	HandleCount   uint32 // handles to the object, in all processes
	PointerCount  uint32 // references to the object
}

const (
	handleHeader = 16
	handleSize   = 32
)

// Handles reads the handles, 262144 at most, with 32 MB of names at most; a dump without such a list has none.
func (d *Dump) Handles() ([]Handle, error) {
	var handles []Handle
	more, room := int64(0), int64(maxNames)
	err := d.EachHandle(func(h Handle) bool {
		if room -= int64(len(h.Name)); room < 0 || len(handles) == keptHandles {
			more++
		} else {
			handles = append(handles, h)
		}
		return true
	})
	if more > 0 {
		p := &problems{stream: StreamHandleData, list: Problems(err)}
		s, _ := d.stream(StreamHandleData)
		kept := int64(len(handles))
		p.add(CodeTooMany, kept, s.Offset, more, "the process has %d handles; %d are told", kept+more, kept)
		err = p.err()
	}
	return handles, err
}

// EachHandle calls yield with each handle until that returns false, and keeps none: a process that leaks them may have
// millions.
func (d *Dump) EachHandle(yield func(Handle) bool) error {
	s, ok := d.stream(StreamHandleData)
	if !ok {
		return nil
	}
	p := &problems{stream: StreamHandleData}
	l := d.sizedList(s, handleHeader, handleSize, maxHandles, p)
	types, objects := d.names(p), d.passingNames(p)
	for i, e := range d.entries(l, p) {
		if !yield(Handle{
			Handle:        le.Uint64(e),
			Type:          types.at(int64(le.Uint32(e[0x08:])), i),
			Name:          objects.at(int64(le.Uint32(e[0x0C:])), i),
			Attributes:    le.Uint32(e[0x10:]),
			GrantedAccess: le.Uint32(e[0x14:]),
			HandleCount:   le.Uint32(e[0x18:]),
			PointerCount:  le.Uint32(e[0x1C:]),
		}) {
			break
		}
	}
	return p.err()
}
