package allocations

import "encoding/binary"

// recordSize is the size of a row in a spool. Little-endian:
//
//	field      offset  size      field      offset  size
//	AllocTime  0       8         Thread     48      4
//	FreeTime   8       8         Stack      52      4
//	Address    16      8         FreeStack  56      4
//	Size       24      8         Kind       60      1
//	Heap       32      8         End        61      1
//	Site       40      4         flags      62      1  1 Part, 2 Unknown
//	Process    44      4         zero       63      1
const recordSize = 64

const (
	flagPart    = 1
	flagUnknown = 2
)

func (r *Row) put(b *[recordSize]byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(r.AllocTime))
	le.PutUint64(b[8:], uint64(r.FreeTime))
	le.PutUint64(b[16:], r.Address)
	le.PutUint64(b[24:], r.Size)
	le.PutUint64(b[32:], r.Heap)
	le.PutUint32(b[40:], r.Site)
	le.PutUint32(b[44:], r.Process)
	le.PutUint32(b[48:], r.Thread)
	le.PutUint32(b[52:], r.Stack)
	le.PutUint32(b[56:], r.FreeStack)
	var flags byte
	if r.Part {
		flags |= flagPart
	}
	if r.Unknown {
		flags |= flagUnknown
	}
	b[60], b[61], b[62], b[63] = byte(r.Kind), byte(r.End), flags, 0
}

func (r *Row) get(b *[recordSize]byte) {
	le := binary.LittleEndian
	r.AllocTime = int64(le.Uint64(b[0:]))
	r.FreeTime = int64(le.Uint64(b[8:]))
	r.Address = le.Uint64(b[16:])
	r.Size = le.Uint64(b[24:])
	r.Heap = le.Uint64(b[32:])
	r.Site = le.Uint32(b[40:])
	r.Process = le.Uint32(b[44:])
	r.Thread = le.Uint32(b[48:])
	r.Stack = le.Uint32(b[52:])
	r.FreeStack = le.Uint32(b[56:])
	r.Kind, r.End = Kind(b[60]), End(b[61])
	r.Part, r.Unknown = b[62]&flagPart != 0, b[62]&flagUnknown != 0
}
