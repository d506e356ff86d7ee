package windbg

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

const sourceLeaks = "!heap -l"

// leaks reads !heap -l: the busy blocks to which no pointer was found, all numbers of the table hexadecimal and in
// bytes.
//
//	Searching the memory for potential unreachable busy blocks.
//	Heap 00150000
//	Scanning VM ...
//	Scanning references from 32822 busy blocks (16 MBytes) ....
//	Entry     User      Heap      Segment       Size  PrevSize  Unused    Flags
//	-----------------------------------------------------------------------------
//	00154640  00154648  00150000  00150000       200       200         c  busy
//
//	29050 potential unreachable blocks were detected.
//
// Size is with the header; Unused is what of it was not requested, the header included.
type leaks struct {
	r        *reader
	in       *instant
	reach    *capture.PointerSearch
	began    int64
	detected int64 // as the last line says, −1 until it came
	sizes    map[groupKey]capture.Usage
	last     groupKey // of the row before, whose usage is run and not yet in sizes
	run      capture.Usage
}

func openLeaks(r *reader, _ []byte) section {
	s := &leaks{r: r, in: r.begin(sourceLeaks, sourceLeaks), began: r.in.number, detected: -1,
		sizes: map[groupKey]capture.Usage{}}
	s.reach = &capture.PointerSearch{}
	s.in.m.Reach = s.reach
	return s
}

// openLeakTable opens an excerpt that begins with the table.
func openLeakTable(r *reader, text []byte) section {
	if !isLeakHeader(text) {
		return nil
	}
	if asksForOne(r.command) {
		return openBlockSearch(r)
	}
	return openLeaks(r, text)
}

// openLeakRows opens an excerpt that begins with a row of the table.
func openLeakRows(r *reader, text []byte) section {
	const address = 8 // digits
	if len(text) < 4*address || !isHex(string(text[:address])) {
		return nil
	}
	w := split(text)
	if w.n < 8 || !bytes.Contains(text, []byte("busy")) {
		return nil
	}
	for _, address := range w.words[:4] {
		if len(address) < 8 || !isHex(string(address)) {
			return nil
		}
	}
	var s section
	if asksForOne(r.command) {
		s = openBlockSearch(r)
	} else {
		s = openLeaks(r, text)
	}
	s.line(text)
	return s
}

// asksForOne reports whether a command is !heap -x, whose table is that of !heap -l and whose block is not unreachable
// for that.
func asksForOne(command []byte) bool {
	return bytes.Contains(command, []byte(" -x")) && bytes.Contains(command, []byte("heap"))
}

// blockSearch reads !heap -x: the block that an address lies in.
type blockSearch struct {
	r  *reader
	in *instant
}

func openBlockSearch(r *reader) section {
	r.end()
	r.question.answered = true
	return &blockSearch{r: r, in: r.now}
}

func (s *blockSearch) line(text []byte) bool {
	w := split(text)
	user, okUser := hex(w.words[1])
	total, okTotal := size(w.words[4])
	unused, okUnused := size(w.words[6])
	switch {
	case isRule(text), isLeakHeader(text):
		return true
	case w.n < 7 || !okUser || !okTotal || !okUnused:
		return false
	case unused > total:
		s.in.malformed.add(s.r.in.number)
	case s.in.sample(s.r,
		capture.Sample{Title: "!heap -x", Address: user, Size: total - unused, Note: plain(rowTail(text, 7))}):
		s.in.note(fmt.Sprintf("block %x", user), "!heap -x")
	}
	return true
}

func (s *blockSearch) close() {}

func isLeakHeader(text []byte) bool {
	w := split(text)
	return w.n >= 7 && string(w.words[0]) == "Entry" && string(w.words[1]) == "User" && string(w.words[4]) == "Size"
}

func (s *leaks) line(text []byte) bool {
	switch {
	case s.detected >= 0:
		return false // nothing follows the last line
	case hexValue[text[0]] >= 0 && (s.row(text) || s.total(text)):
		return true
	case bytes.HasPrefix(text, []byte("Scanning references from ")):
		s.scanned(text)
		return true
	}
	return isRule(text) || text[0] == '.' || isEllipsis(text) || bytes.HasPrefix(text, []byte("Scanning")) ||
		isLeakHeader(text) || isHeapLine(text)
}

// isHeapLine reports whether a line is "Heap 00150000".
func isHeapLine(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("Heap "))
	_, isNumber := hex(rest)
	return ok && isNumber
}

// scanned reads how much was looked at; the debugger rounds it to whole MiB.
func (s *leaks) scanned(text []byte) {
	w := split(text)
	if w.n < 7 {
		return
	}
	count, ok := decimal(w.words[3])
	amount, okBytes := scaled(bytes.TrimPrefix(w.words[6], []byte("(")), 1<<20)
	if ok && okBytes {
		s.reach.Blocks = capture.Usage{Count: count, Bytes: amount}
	}
}

// total reads the last line.
func (s *leaks) total(text []byte) bool {
	at := bytes.IndexByte(text, ' ')
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(" potential unreachable block")) {
		return false
	}
	n, ok := decimal(text[:at])
	if ok {
		s.detected = n
	}
	return ok
}

// row takes a block; it is where the time goes, so it reads the words one by one as they come.
func (s *leaks) row(text []byte) bool {
	var v [7]uint64
	at := 0
	for i := range v {
		digits := 0
		for at < len(text) {
			c := text[at]
			d := hexValue[c]
			if d < 0 {
				if c != '`' {
					break
				}
				at++
				continue
			}
			v[i] = v[i]<<4 | uint64(d)
			digits++
			at++
		}
		if digits == 0 || digits > 16 {
			return s.misfit(i)
		}
		if at == len(text) || text[at] != ' ' && text[at] != '\t' {
			return s.misfit(i)
		}
		for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
	}
	total, unused := v[4], v[6]
	if at == len(text) || total > 1<<62 || unused > total {
		return s.misfit(len(v))
	}
	s.block(capture.Address(v[2]), v[1], int64(total-unused), int64(unused))
	return true
}

// misfit counts a line that is a row as far as its third word, and none after that.
func (s *leaks) misfit(words int) bool {
	if words < 3 {
		return false
	}
	s.in.malformed.add(s.r.in.number)
	return true
}

func (s *leaks) block(heap capture.Address, user uint64, requested, overhead int64) {
	if key := (groupKey{heap, requested}); key != s.last {
		s.settle()
		s.last = key
	}
	s.run = s.run.Add(capture.Usage{Count: 1, Bytes: requested, Overhead: overhead})
	if s.run.Bytes > 1<<61 {
		s.settle()
	}
	if len(s.in.m.Samples) < maxSamples {
		s.in.sample(s.r, capture.Sample{Title: sourceLeaks, Address: user, Size: requested, Unreachable: true})
	}
}

// settle moves the run into the sums.
func (s *leaks) settle() {
	if s.run.Count == 0 {
		return
	}
	u := &s.reach.Unreachable
	*u = added(*u, s.run)
	if known, ok := s.sizes[s.last]; ok || s.r.keep(1) {
		s.sizes[s.last] = added(known, s.run)
	}
	s.run = capture.Usage{}
}

func added(a, b capture.Usage) capture.Usage {
	return capture.Usage{Count: sum(a.Count, b.Count), Bytes: sum(a.Bytes, b.Bytes), Overhead: sum(a.Overhead, b.Overhead)}
}

// ofLeaks is the key of groups that hold unreachable blocks only, because no other command told of their size.
const ofLeaks = "unreachable blocks only"

func (s *leaks) close() {
	s.settle()
	listed := s.reach.Unreachable.Count
	s.reach.Note = "as !heap -l found them: it searches what it takes for memory in use"
	switch {
	case s.detected < 0:
		s.in.truncate(s.began,
			"the total that ends !heap -l is missing: the log is cut short or an excerpt, and blocks may be missing")
	case s.detected > listed:
		s.in.truncate(s.began, "!heap -l detected %d blocks and lists %d of them: the bytes of listed blocks count",
			s.detected, listed)
		s.reach.Note = fmt.Sprintf("!heap -l detected %d blocks; %d of them are in the log", s.detected, listed)
	case s.detected < listed:
		s.in.contradict(s.began, "!heap -l lists %d blocks and says that it detected %d", listed, s.detected)
	}
	if kept := int64(len(s.in.m.Samples)); kept < listed {
		s.reach.Note = joined(s.reach.Note, fmt.Sprintf("%d blocks are counted and the first of them listed", listed))
	}
	s.group()
}

// maxLeakSizes bounds the sizes of unreachable blocks that are told, the largest sums first.
const maxLeakSizes = 1000

// group tells the unreachable blocks by heap and size.
func (s *leaks) group() {
	keys := sorting.Sorted(maps.Keys(s.sizes), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(s.sizes[b].Bytes, s.sizes[a].Bytes), cmp.Compare(a.heap, b.heap),
			cmp.Compare(a.size, b.size))
	})
	for _, key := range keys[:min(len(keys), maxLeakSizes)] {
		_, known := s.in.groups[key]
		g := s.in.group(s.r, key.heap, key.size)
		if g == nil {
			return
		}
		u := s.sizes[key]
		if !known {
			g.Usage, g.Key = u, ofLeaks
		}
		g.Unreachable = &u
	}
}
