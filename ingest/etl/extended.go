package etl

// An extended item of an EVENT_HEADER event (evntcons.h, EVENT_HEADER_EXTENDED_DATA_ITEM):
//
//	size      0  u16  multiple of 8, this header and padding included
//	ExtType   2  u16
//	Linkage   4  u16  bit 0: another item follows
//	DataSize  6  u16
//	data      8
const itemHeaderSize = 8

// extendedLength is how many bytes of b the chain of items takes. An item that is cut short is none of them.
func extendedLength(b []byte) int {
	for at := 0; ; {
		item := b[at:]
		if len(item) < itemHeaderSize {
			return at
		}
		end := itemHeaderSize + int(le.Uint16(item[6:]))
		if end > len(item) {
			return at
		}
		at += min((end+7)&^7, len(item))
		if le.Uint16(item[4:])&1 == 0 {
			return at
		}
	}
}
