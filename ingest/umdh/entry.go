package umdh

import "bytes"

// maxSize bounds every size and count in a log: the 128 TiB that a 64-bit process can address. Larger numbers are
// damage, and would overflow sums.
const maxSize = 1 << 47

// An entry is one block, or in the oldest logs count blocks of one stack.
type entry struct {
	requested uint64 // bytes
	overhead  uint64 // bytes
	address   uint64 // 0 in the oldest logs
	trace     uint64
	count     uint64
	unit      uint64 // bytes of each block of the oldest logs, else 0
}

// parseEntry reads
//
//	REQUESTED bytes + OVERHEAD at ADDRESS by BackTraceID
//	TOTAL bytes in 0xCOUNT allocations (@ 0xUNIT) by: BackTraceID          (Windows 2000)
//
// All numbers are hexadecimal. Any white space separates the words.
func parseEntry(line []byte) (e entry, ok bool) {
	f := fields{rest: line}
	e.requested, e.count = f.hex(), 1
	f.word("bytes")
	if f.try("in") {
		e.count = f.hex0x()
		f.word("allocations")
		f.word("(@")
		e.unit = f.hexUntil(")")
		f.word("by:")
	} else {
		f.word("+")
		e.overhead = f.hex()
		f.word("at")
		e.address = f.hex()
		f.word("by")
	}
	e.trace = f.trace()
	return e, f.done() && e.requested < maxSize && e.overhead < maxSize && e.count < maxSize && e.unit < maxSize
}

// likeEntry reports whether a line that is no entry was meant to be one.
func likeEntry(line []byte) bool {
	return bytes.Contains(line, []byte(" by BackTrace")) || bytes.Contains(line, []byte(" bytes + "))
}

// fields takes a line apart. The first thing that is not as expected makes it bad and all after it zero.
type fields struct {
	rest []byte
	bad  bool
}

// next takes the next word.
func (f *fields) next() []byte {
	f.rest = bytes.TrimLeft(f.rest, " \t")
	end := bytes.IndexAny(f.rest, " \t")
	if end < 0 {
		end = len(f.rest)
	}
	word := f.rest[:end]
	f.rest = f.rest[end:]
	return word
}

// try takes the next word if it is this one.
func (f *fields) try(want string) bool {
	before := f.rest
	if string(f.next()) == want {
		return true
	}
	f.rest = before
	return false
}

func (f *fields) word(want string) { f.bad = !f.try(want) || f.bad }

func (f *fields) hexUntil(suffix string) uint64 {
	word, found := bytes.CutSuffix(f.next(), []byte(suffix))
	if len(word) > 2 && word[0] == '0' && word[1]|0x20 == 'x' {
		word = word[2:]
	}
	v, ok := hexAll(word)
	f.bad = f.bad || !found || !ok
	return v
}

func (f *fields) hex0x() uint64 { return f.hexUntil("") }

func (f *fields) hex() uint64 {
	v, ok := hexAll(f.next())
	f.bad = f.bad || !ok
	return v
}

// trace takes the id behind "BackTrace", with or without a blank between.
func (f *fields) trace() uint64 {
	id, found := bytes.CutPrefix(f.next(), []byte("BackTrace"))
	if found && len(id) == 0 {
		id = f.next()
	}
	v, ok := hexAll(id)
	f.bad = f.bad || !found || !ok
	return v
}

// done reports whether the line was as expected and is used up.
func (f *fields) done() bool { return !f.bad && len(bytes.TrimLeft(f.rest, " \t")) == 0 }
