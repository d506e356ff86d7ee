package etl

import "iter"

// An ItemType says what an extended item holds (evntcons.h, EVENT_HEADER_EXT_TYPE_*).
type ItemType uint16

// The items that say where an event came from.
const (
	ItemStackTrace32 ItemType = 5  // u64 match id, u32 addresses
	ItemStackTrace64 ItemType = 6  // u64 match id, u64 addresses
	ItemStackKey32   ItemType = 17 // u64 match id, u32 key
	ItemStackKey64   ItemType = 18 // u64 match id, u64 key
)

// An extended item of an EVENT_HEADER event:
//
//	size      0  u16  multiple of 8, this header and padding included
//	ExtType   2  u16
//	Linkage   4  u16  bit 0: another item follows
//	DataSize  6  u16
//	data      8
const itemHeaderSize = 8

// nextItem takes the item at the start of b apart; n is its distance to the next, 0 where there is none.
func nextItem(b []byte) (t ItemType, data []byte, n int, more bool) {
	if len(b) < itemHeaderSize {
		return 0, nil, 0, false
	}
	size := int(le.Uint16(b[6:]))
	n = (itemHeaderSize + size + 7) &^ 7
	if itemHeaderSize+size > len(b) {
		return 0, nil, 0, false
	}
	return ItemType(le.Uint16(b[2:])), b[itemHeaderSize : itemHeaderSize+size], min(n, len(b)), le.Uint16(b[4:])&1 != 0
}

// extendedLength is how many bytes of b the chain of items takes.
func extendedLength(b []byte) int {
	at := 0
	for {
		_, _, n, more := nextItem(b[at:])
		at += n
		if n == 0 || !more {
			return at
		}
	}
}

// Items yields the event's extended items. Their data lies in the event's buffer.
func (e *Event) Items() iter.Seq2[ItemType, []byte] {
	return func(yield func(ItemType, []byte) bool) {
		for b := e.Extended; ; {
			t, data, n, more := nextItem(b)
			if n == 0 || !yield(t, data) || !more {
				return
			}
			b = b[n:]
		}
	}
}

// ExtendedStackKey is the key of the stack that an event names in its own extended items, as StackKey is of a stack
// event. Which of the session's stacks it may name is not documented, so that joining leaves it alone.
func (e *Event) ExtendedStackKey() (key uint64, ok bool) {
	const matchID = 8
	for t, data := range e.Items() {
		switch {
		case t == ItemStackKey64 && len(data) >= matchID+8:
			return le.Uint64(data[matchID:]), true
		case t == ItemStackKey32 && len(data) >= matchID+4:
			return uint64(le.Uint32(data[matchID:])), true
		}
	}
	return 0, false
}
