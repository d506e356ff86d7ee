package exitlog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// Limits on what a log gives, which bound memory: of what is beyond them, the numbers are counted and the rest is not.
const (
	mostLists  = 10_000 // captures
	mostSites  = 1 << 20
	mostFrames = 256
	// mostHeld bounds the blocks and bytes of a site, which a damaged line may claim: sums of all sites do not overflow.
	mostHeld = 1 << 40
)

// A listKey tells the lists of a log apart.
type listKey struct {
	kind    capture.Kind
	process string // what the log tells of it: a process id, or the prefix of its lines
	test    string
}

// A list is what one tool printed of one process while one test ran.
type list struct {
	capture.Capture
	first    int64 // line
	number   int32 // its place in collector.order
	at       map[siteKey]int
	known    map[string]int // the same by the numbers of frames, of stacks that came before
	broken   int64          // line after which a list broke off; 0 for none
	warnings map[string]*capture.Warning
}

type siteKey struct {
	stack capture.StackID
	reach capture.Reach
}

// A frame is a call as a tool prints it, innermost first in a stack.
type frame struct {
	capture.FrameText
	address uint64
	number  uint32 // of the line that it was read from, for the collector; 0 for none
}

// A collector makes the captures of a log.
type collector struct {
	lists     map[listKey]*list
	order     []*list
	crt       crtBlocks
	crtShown  []shownBlock // by the debug CRT
	vldShown  []shownBlock // by Visual Leak Detector
	processes uint32       // that the log tells apart
	notes     notes
	inspected inspected
	programs  map[*lane]string
	frames    map[string]*parsedFrame // by the text of their lines: most come many times
	ran       map[string]bool         // tests that ran to their end
	key       []byte                  // room for keys of list.known
	sites     int
	lostLists int64
	lostSites int64
	lostLanes int64
}

func newCollector() *collector {
	return &collector{lists: map[listKey]*list{}, programs: map[*lane]string{}, frames: map[string]*parsedFrame{},
		ran: map[string]bool{}, crt: newCRTBlocks()}
}

// A parsedFrame is what a line says of a call; ok is false of a line that is none.
type parsedFrame struct {
	frame
	ok bool
}

// mostKept bounds the lines and the names of files that are remembered.
const mostKept = 1 << 16

// frame reads the line of a call, or remembers what it says.
func (o *collector) frame(text []byte, parse func(text []byte) (frame, bool)) (f frame, ok bool) {
	if known := o.frames[string(text)]; known != nil {
		return known.frame, known.ok
	}
	f, ok = parse(text)
	if len(o.frames) < mostKept {
		f.number = uint32(len(o.frames)) + 1
		o.frames[string(text)] = &parsedFrame{f, ok}
	}
	return f, ok
}

// program notes which program runs in a lane, by the command that ctest prints.
func (o *collector) program(at *lane, command []byte) {
	at.start(o)
	const longestCommand = 32 << 10 // of Windows
	path := validText(command, longestCommand)
	if quoted, ok := strings.CutPrefix(path, `"`); ok {
		path, _, _ = strings.Cut(quoted, `"`)
	} else if exe := indexExe(path); exe >= 0 {
		path = path[:exe+len(".exe")]
	} else {
		path, _, _ = strings.Cut(path, " ")
	}
	path = path[strings.LastIndexAny(path, `\/`)+1:]
	const longest = 200
	if path != "" && len(path) <= longest {
		o.programs[at] = validText([]byte(path), longest)
	}
}

// indexExe is where the extension of a program begins in a command; −1 for none.
func indexExe(command string) int {
	const exe = ".exe"
	for i := 0; i+len(exe) <= len(command); i++ {
		if strings.EqualFold(command[i:i+len(exe)], exe) {
			return i
		}
	}
	return -1
}

// list returns the list of a tool in a lane, with the test that runs there; nil where there are too many.
func (o *collector) list(kind capture.Kind, at *lane, process capture.Process, number int64) *list {
	name := at.name
	if process.PID != 0 {
		name = fmt.Sprint(process.PID)
	}
	key := listKey{kind, name, at.test()}
	l := o.lists[key]
	if l == nil {
		if len(o.order) == mostLists {
			o.lostLists++
			return nil
		}
		l = &list{first: number, number: int32(len(o.order)), at: map[siteKey]int{},
			known: map[string]int{}, warnings: map[string]*capture.Warning{}}
		l.Capture = capture.Capture{Kind: kind, Shape: capture.ShapeExit, Process: process, Test: key.test,
			Snapshots: make([]capture.Snapshot, 1)}
		if kind == KindCRT {
			l.Lines = []capture.Line{}
		}
		if l.Process.Name == "" {
			l.Process.Name = o.programs[at]
		}
		o.lists[key] = l
		o.order = append(o.order, l)
	}
	l.Printed++
	return l
}

// add counts blocks in that have a stack, and returns the place of their site in the list; −1 for none.
func (o *collector) add(l *list, stack []frame, reach capture.Reach, count, held int64) (site int) {
	if l == nil {
		return -1
	}
	numbers := o.numbers(stack, reach)
	if n, ok := l.known[string(numbers)]; ok && numbers != nil {
		l.count(n, count, held)
		return n
	}
	ids := make([]capture.FrameID, 0, len(stack))
	for i := range stack[:min(len(stack), mostFrames)] {
		f := &stack[i]
		if f.FrameText == (capture.FrameText{}) {
			ids = append(ids, l.Stacks.AddAddress(f.address))
		} else {
			ids = append(ids, l.Stacks.AddText(f.FrameText, f.address))
		}
	}
	key := siteKey{l.Stacks.AddStack(ids), reach}
	n, ok := l.at[key]
	if !ok {
		if o.sites == mostSites {
			o.lostSites += count
			return -1
		}
		o.sites++
		n = len(l.Sites)
		l.at[key] = n
		l.Sites = append(l.Sites, capture.Site{Stack: key.stack, Heap: capture.NoHeap, Reach: reach,
			Usage: make([]capture.Usage, 1)})
		if l.Lines != nil {
			l.Lines = append(l.Lines, capture.Line{})
		}
	}
	if numbers != nil && len(l.known) < mostKept {
		l.known[string(numbers)] = n
	}
	l.count(n, count, held)
	return n
}

// numbers is the key of a stack in list.known; nil where a frame has no number.
func (o *collector) numbers(stack []frame, reach capture.Reach) []byte {
	o.key = append(o.key[:0], byte(reach))
	for i := range stack[:min(len(stack), mostFrames)] {
		if stack[i].number == 0 {
			return nil
		}
		o.key = binary.LittleEndian.AppendUint32(o.key, stack[i].number)
	}
	return o.key
}

// count counts blocks in that are of a site.
func (l *list) count(site int, count, held int64) {
	u := &l.Sites[site].Usage[0]
	u.Count, u.Bytes = min(u.Count+min(count, mostHeld), mostHeld), min(u.Bytes+min(held, mostHeld), mostHeld)
}

// warn counts a warning in, which has its place from where it was met first.
func (l *list) warn(code capture.Code, number, count int64, message string) {
	if l == nil {
		return
	}
	w := l.warnings[message]
	if w == nil {
		w = &capture.Warning{Code: code, Message: message}
		if number > 0 {
			w.Place = fmt.Sprintf("line %d", number)
		}
		l.warnings[message] = w
	}
	w.Count += count
}

// ended notes a test that passed.
func (o *collector) ended(test string) {
	if len(o.ran) < mostKept {
		o.ran[test] = true
	}
}

// printsNothing are the tools that print nothing where nothing was left: a test that ran without a list was clean.
var printsNothing = map[capture.Kind]bool{KindCRT: true, KindSanitizer: true, KindFastMM: true}

// addRan names the tests that passed, on the first list of each tool by whose silence they were clean.
func (o *collector) addRan() {
	done := map[capture.Kind]bool{}
	for _, l := range o.order {
		if printsNothing[l.Kind] && !done[l.Kind] {
			done[l.Kind] = true
			l.Ran = slices.Sorted(maps.Keys(o.ran))
		}
	}
}

// captures finishes all lists.
func (o *collector) captures(s *scanner) []*capture.Capture {
	o.addCRT(s.ctx)
	o.inspected.note(&o.notes)
	if len(o.order) > 0 {
		o.notes.warn(o.order[0])
	}
	o.addRan()
	if o.lostLists > 0 {
		o.order[0].warn(capture.Truncated, 0, o.lostLists, fmt.Sprintf(
			"Split the log: it holds lists of more than %d tests and processes. The further ones are not read.", mostLists))
	}
	if o.lostLanes > 0 && len(o.order) > 0 {
		o.order[0].warn(capture.Truncated, 0, o.lostLanes, fmt.Sprintf(
			"Split the log: it holds lines of more than %d processes. Lines of the further ones are not read.", mostLanes))
	}
	if o.lostSites > 0 {
		o.order[0].warn(capture.Truncated, 0, o.lostSites, fmt.Sprintf(
			"Split the log: it holds more than %s. The further blocks are not in the numbers.",
			quantity.Plural(mostSites, "call stack")))
	}
	out := make([]*capture.Capture, 0, len(o.order))
	for _, l := range o.order {
		if l.broken > 0 {
			l.Snapshots[0].LowerBound = true
			l.warn(capture.Truncated, l.broken, 1, "The list of blocks breaks off: give the log to the end of the program.")
		}
		if s.src.Guessed() {
			l.warn(capture.EncodingGuessed, 0, 1, "The log has no byte order mark and is read as UTF-16.")
		}
		for _, w := range l.warnings {
			l.Warnings = append(l.Warnings, *w)
		}
		sorting.Stable(l.Warnings, func(a, b capture.Warning) int {
			return cmp.Or(strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Message, b.Message))
		})
		l.Stacks.Trim()
		out = append(out, &l.Capture)
	}
	return out
}

// moduleName is the name of a module as debuggers print it, "app" of app.exe or C:\build\app.exe.
func moduleName(path []byte) string {
	path = path[bytes.LastIndexAny(path, `\/`)+1:]
	for _, extension := range []string{".exe", ".dll", ".ocx", ".sys", ".pyd", ".node"} {
		if n := len(path) - len(extension); n > 0 && bytes.EqualFold(path[n:], []byte(extension)) {
			path = path[:n]
			break
		}
	}
	return validText(path, longestModule)
}

// Limits on names, in bytes.
const (
	longestModule   = 260
	longestFunction = 4 << 10
	longestFile     = 1 << 10
)

// hexNumber reads a hexadecimal number with or without 0x.
func hexNumber(text []byte) (v uint64, ok bool) {
	text = bytes.TrimPrefix(bytes.TrimPrefix(text, []byte("0x")), []byte("0X"))
	const widest = 16
	if len(text) == 0 || len(text) > widest {
		return 0, false
	}
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v<<4 | uint64(c-'A'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// cutDecimal reads a decimal number at the front of a text, and what is behind it. Numbers of more than 18 digits are
// none.
func cutDecimal(text []byte) (v int64, rest []byte, ok bool) {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	n := countDigits(text)
	const widest = 18
	if n == 0 || n > widest {
		return 0, nil, false
	}
	for _, c := range text[:n] {
		v = v*10 + int64(c-'0')
	}
	return v, text[n:], true
}
