package exitlog

import (
	"bytes"
	"cmp"

	"heapdrift/ingest/capture"
)

// A crtParser reads what the debug CRT of Visual C++ prints at _CrtDumpMemoryLeaks and _CrtMemDumpAllObjectsSince, and
// what MFC adds to it. The layout is that of Microsoft's pages "Find memory leaks with the CRT library" and "Memory
// leak detection and isolation" (MFC), and of reports in public issue trackers:
//
//	Detected memory leaks!
//	Dumping objects ->
//	c:\src\cache.cpp(88) : {123} normal block at 0x00A1B2C0, 64 bytes long.      with _CRTDBG_MAP_ALLOC
//	 Data: <                > CD CD CD CD CD CD CD CD CD CD CD CD CD CD CD CD
//	{124} client block at 0x00A1B300, subtype c0, 32 bytes long.
//	a CPerson object at $00A1B300, 32 bytes long
//	#File Error#(12) : {125} normal block at 0x00A1B340, 8 bytes long.           its DLL is unloaded
//	{5} strcore.cpp(80) : non-object block at $00A7521A, 9 bytes long            of older MFC
//	Object dump complete.
//
// Blocks of the kinds "crt", "ignore" and "free" are none of the program's: they are passed over, and so are the lines
// of _CrtMemDumpStatistics.
//
// Such a list has no call stacks. What tells its blocks apart over builds is the file, the size and the place in the
// order of the lines of that file and size: a line number alone changes with every edit above it. Blocks without a file
// go by their kind, size and content.
type crtParser struct {
	in   *lane
	out  *collector
	list *list
	last crtBlock // still without its content and class
	at   uint64   // its address; 0 where its line has none
	// number is its place in the order of allocations.
	number int64
	has    bool
	piece  []byte // of the line of a block, that was printed in a line of its own
	since  int64  // line of the last line of the list
	headed bool   // the list has nothing but the heading "Detected memory leaks!"
	ended  int64  // line at which the list before ended; 0 for none
}

func (p *crtParser) line(text []byte, number int64) (mine, open bool) {
	switch {
	case len(text) == 0:
		return p.list != nil, p.list != nil
	case hasPrefix(text, "Detected memory leaks!"), hasPrefix(text, "Dumping objects ->"):
		p.take()
		p.begin(number)
		p.headed = text[0] == 'D' && text[1] == 'e'
		return true, true
	case p.list != nil && hasPrefix(text, "Object dump complete."):
		p.take()
		p.list, p.ended = nil, number
		return true, false
	case p.list != nil && hasPrefix(text, "Data: <"):
		p.content(text[len("Data: <"):])
		p.since = number
		return true, true
	}
	if p.block(text, number) || p.list != nil && (p.object(text) || isStatistic(text) || p.takePiece(text)) {
		p.since, p.headed = number, false
		return true, true
	}
	p.piece = p.piece[:0]
	return false, false
}

// takePiece takes a piece of the line of a block: "file(line) :" or "{number}". The debug CRT reports them one by one,
// and some loggers end each report with a line.
func (p *crtParser) takePiece(text []byte) bool {
	number := text[0] == '{' && text[len(text)-1] == '}' && countDigits(text[1:]) == len(text)-2
	file := bytes.HasSuffix(text, []byte(") :")) && bytes.LastIndexByte(text, '(') > 0
	if !number && !file {
		return false
	}
	if file {
		p.piece = p.piece[:0]
	}
	p.piece = append(append(p.piece, text...), ' ')
	return true
}

func (p *crtParser) begin(number int64) {
	p.list, p.since = p.out.list(KindCRT, p.in, capture.Process{}, number), number
	p.in.listed = true
}

// end takes the last block of a list that broke off.
func (p *crtParser) end() {
	p.take()
	// A program may print the heading after the list and its statistics.
	const statistics = 12 // lines
	late := p.headed && p.ended > 0 && p.since-p.ended <= statistics
	if p.list != nil && !late {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list = nil
}

// take counts the last block in.
func (p *crtParser) take() {
	if !p.has {
		return
	}
	p.has = false
	if p.list == nil {
		return
	}
	p.last.list = p.list.number
	switch n := p.out.crt.add(&p.last); {
	case n < 0:
		p.out.lostSites++
	case p.at != 0 && len(p.out.crtShown) < mostShown:
		p.out.crtShown = append(p.out.crtShown, shownBlock{process: p.in.process, of: n, list: p.list.number,
			period: p.in.period(), address: p.at, size: p.last.size, number: p.number})
	}
}

// block reads the line of a block: [file(line) : ]{number} [kind] block at 0xaddress, [subtype x, ]size bytes long.
func (p *crtParser) block(text []byte, number int64) bool {
	before, rest, ok := bytes.Cut(text, []byte(" block at "))
	if !ok {
		return false
	}
	var b crtBlock
	space := bytes.LastIndexByte(before, ' ') + 1
	kind := before[space:]
	place, rest, ok := bytes.Cut(rest, []byte(","))
	if !ok || len(place) < 2 || place[0] != '$' && !hasPrefix(place, "0x") {
		return false
	}
	address, ok := hexNumber(bytes.TrimPrefix(place, []byte("$")))
	if !ok {
		return false
	}
	if sub, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("subtype ")); ok {
		if _, rest, ok = bytes.Cut(sub, []byte(",")); !ok {
			return false
		}
	}
	size, rest, ok := cutDecimal(rest)
	if !ok || !hasPrefix(rest, " bytes long") {
		return false
	}
	b.size = size
	var order int64
	front := before[:space]
	if len(front) == 0 {
		front = p.piece
	}
	b.file, b.line, order, ok = p.place(front)
	p.piece = p.piece[:0]
	if !ok {
		return false
	}
	switch {
	case isWord(kind, "normal"), isWord(kind, "non-object"):
		b.kind = normalBlocks
	case isWord(kind, "client"):
		b.kind = clientBlocks
	case isWord(kind, "crt"), isWord(kind, "ignore"), isWord(kind, "free"):
		p.take()
		return p.list != nil
	default:
		return false
	}
	p.take()
	if p.list == nil {
		p.begin(number)
	}
	p.last, p.at, p.number, p.has = b, address, order, true
	return true
}

// isWord reports whether a text is a word, in any case.
func isWord(text []byte, word string) bool {
	return len(text) == len(word) && bytes.EqualFold(text, []byte(word))
}

// place reads what is before the kind of a block: "file(line) : {number} ", or "{number} file(line) : " of older MFC.
func (p *crtParser) place(text []byte) (file int32, line uint32, order int64, ok bool) {
	open := bytes.LastIndexByte(text, '{')
	end := bytes.IndexByte(text[max(open, 0):], '}')
	if open < 0 || end < 2 || countDigits(text[open+1:]) != end-1 {
		return 0, 0, 0, false
	}
	order, _, _ = cutDecimal(text[open+1:])
	place := bytes.TrimSpace(text[:open])
	if behind := bytes.TrimSpace(text[open+end+1:]); len(place) == 0 {
		place = behind
	}
	place = bytes.TrimRight(bytes.TrimSuffix(bytes.TrimSpace(place), []byte(":")), " ")
	if len(place) == 0 {
		return 0, 0, order, true
	}
	from := bytes.LastIndexByte(place, '(')
	if from < 0 || place[len(place)-1] != ')' {
		return 0, 0, order, true // something that the program printed in the same line
	}
	number, rest, isNumber := cutDecimal(place[from+1:])
	if !isNumber || string(rest) != ")" || number > 1<<31 {
		return 0, 0, order, true
	}
	name := place[:from]
	if string(bytes.TrimSpace(name)) == "#File Error#" {
		return 0, 0, order, true
	}
	return p.out.crt.file(name), uint32(number), order, true
}

// object reads the line that MFC prints of an object: "a CPerson object at $00A1B300, 32 bytes long", also with the
// number, file and line of the block before it.
func (p *crtParser) object(text []byte) bool {
	at := bytes.Index(text, []byte(" at $"))
	if at < 0 {
		return false
	}
	name := bytes.TrimSuffix(text[:at], []byte(" object"))
	class := name[bytes.LastIndexByte(name, ' ')+1:]
	article := bytes.TrimSpace(name[:len(name)-len(class)])
	if word := string(article[bytes.LastIndexByte(article, ' ')+1:]); word != "a" && word != "an" || len(class) == 0 {
		return false
	}
	const longestClass = 200
	if place := bytes.TrimSpace(article[:bytes.LastIndexByte(article, ' ')+1]); len(place) > 0 && place[0] == '{' {
		file, line, _, ok := p.place(place) // a block of its own
		if !ok {
			return false
		}
		p.take()
		p.last, p.at, p.has = crtBlock{file: file, line: line}, 0, true
	}
	if !p.has {
		return false
	}
	p.last.kind = p.out.crt.text(validText(class, longestClass))
	if _, size, ok := bytes.Cut(text[at:], []byte(", ")); ok && p.last.size == 0 {
		p.last.size, _, _ = cutDecimal(size)
	}
	return true
}

// isStatistic reports whether a line is one of _CrtMemDumpStatistics: "64 bytes in 1 Normal Blocks."
func isStatistic(text []byte) bool {
	if hasPrefix(text, "Largest number used: ") || hasPrefix(text, "Total allocations: ") {
		return true
	}
	_, rest, ok := cutDecimal(text)
	return ok && hasPrefix(rest, " bytes in ") && bytes.HasSuffix(bytes.TrimSuffix(text, []byte(".")), []byte(" Blocks")) // those of MFC have no period
}
