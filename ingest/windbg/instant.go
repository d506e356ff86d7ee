package windbg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// An instant is what the outputs of one stop of the process say, until it is made a capture.
type instant struct {
	c       *capture.Capture
	m       *capture.Memory
	keys    map[string]bool // of the commands whose outputs it has
	sources []string
	groups  map[groupKey]int        // places in m.Groups
	heaps   map[capture.Address]int // places in m.Heaps

	malformed    tally // rows that were not understood
	inconsistent []finding
	cut          []finding // outputs whose end is missing
}

// A groupKey tells groups apart.
type groupKey struct {
	heap capture.Address
	size int64
}

// A finding is a sentence about the log and the line that it is about.
type finding struct {
	text string
	line int64
	n    int64
}

func newInstant() *instant {
	m := &capture.Memory{}
	return &instant{
		c: &capture.Capture{Kind: Kind, Shape: capture.ShapeFacts, Memory: m, Snapshots: make([]capture.Snapshot, 1)},
		m: m, keys: map[string]bool{}, groups: map[groupKey]int{}, heaps: map[capture.Address]int{},
	}
}

func (n *instant) has(key string) bool { return n.keys[key] }

func (n *instant) note(key, source string) {
	n.keys[key] = true
	if !slices.Contains(n.sources, source) {
		n.sources = append(n.sources, source)
	}
}

// heap finds or makes the figures of a heap; nil says that there is no room for another.
func (n *instant) heap(r *reader, handle capture.Address) *capture.HeapFacts {
	at, ok := n.heaps[handle]
	if !ok {
		if !r.keep(1) {
			return nil
		}
		at = len(n.m.Heaps)
		n.heaps[handle] = at
		n.m.Heaps = append(n.m.Heaps, capture.HeapFacts{Handle: handle})
		if handle>>32 != 0 {
			n.m.Heaps[at].Bits, n.c.Process.Bits = 64, 64
		}
	}
	return &n.m.Heaps[at]
}

// ofUnnamed is the key of groups whose heap the log does not name.
const ofUnnamed = "of a heap that the log does not name"

// group finds or makes the group of a size in a heap; nil says that there is no room for another.
func (n *instant) group(r *reader, heap capture.Address, size int64) *capture.BlockGroup {
	key := groupKey{heap, size}
	at, ok := n.groups[key]
	if !ok {
		if !r.keep(1) {
			return nil
		}
		if heap>>32 != 0 {
			n.c.Process.Bits = 64
		}
		at = len(n.m.Groups)
		n.groups[key] = at
		n.m.Groups = append(n.m.Groups, capture.BlockGroup{By: capture.BySize, Heap: heap, Size: size})
	}
	return &n.m.Groups[at]
}

// sample adds a sample, as far as there is room.
func (n *instant) sample(r *reader, s capture.Sample) bool {
	if len(n.m.Samples) == maxSamples {
		r.dropped.add(r.in.number)
		return false
	}
	if !r.keep(1) {
		return false
	}
	n.m.Samples = append(n.m.Samples, s)
	return true
}

// addNote adds a note, as far as there is room and nobody said it yet.
func (n *instant) addNote(r *reader, topic, text string) {
	n.advise(r, capture.Note{Topic: topic, Text: text})
}

// advise adds a note with what to do about it, as say does.
func (n *instant) advise(r *reader, note capture.Note) {
	switch {
	case len(n.m.Notes) == maxNotes:
		r.dropped.add(r.in.number)
	case !slices.Contains(n.m.Notes, note) && r.keep(1+len(note.Text)/64):
		n.m.Notes = append(n.m.Notes, note)
	}
}

// contradict says that numbers of an output do not agree, each sentence once with how often.
func (n *instant) contradict(line int64, format string, args ...any) {
	n.inconsistent = addFinding(n.inconsistent, line, fmt.Sprintf(format, args...))
}

// truncate says that the end of an output is missing.
func (n *instant) truncate(line int64, format string, args ...any) {
	n.cut = addFinding(n.cut, line, fmt.Sprintf(format, args...))
}

// addFinding counts a sentence; after the first few only the last one's count grows.
func addFinding(list []finding, line int64, text string) []finding {
	const most = 20
	for i := range list {
		if list[i].text == text {
			list[i].n++
			return list
		}
	}
	if len(list) == most {
		list[most-1].n++
		return list
	}
	return append(list, finding{text, line, 1})
}

// finish makes the capture, or nil where nothing was read.
func (n *instant) finish(r *reader, last bool) *capture.Capture {
	m, c := n.m, n.c
	n.warn()
	if m.Space == nil && m.Reach == nil &&
		len(m.Heaps)+len(m.Groups)+len(m.Managed)+len(m.Samples)+len(m.Notes)+len(m.Gaps) == 0 {
		r.orphans = append(r.orphans, c.Warnings...)
		return nil
	}
	m.Source = "WinDbg " + strings.Join(n.sources, ", ")
	sorting.Stable(m.Groups, func(a, b capture.BlockGroup) int {
		return cmp.Or(cmp.Compare(b.Usage.Bytes, a.Usage.Bytes), cmp.Compare(a.Heap, b.Heap), cmp.Compare(a.Size, b.Size))
	})
	for i := range m.Groups {
		if g := &m.Groups[i]; g.Heap == 0 && g.Key == "" {
			g.Key = ofUnnamed // without a word it is of all heaps together
		}
	}
	r.target.describe(c)
	c.Snapshots[0].LowerBound = last && len(n.cut) > 0
	n.joinStops()
	n.doubt()
	return c
}

// joinStops gives the leaks that Application Verifier reports the stacks and sizes that !heap -p -a shows of their
// blocks.
func (n *instant) joinStops() {
	shown := map[uint64]*capture.Sample{}
	for i := range n.m.Samples {
		if s := &n.m.Samples[i]; s.Stack != capture.NoStack && !s.Leaked {
			shown[s.Address] = s
		}
	}
	for i := range n.m.Samples {
		s := &n.m.Samples[i]
		if of := shown[s.Address]; s.Leaked && s.Address != 0 && of != nil {
			s.Stack, s.Size = of.Stack, of.Size
		}
	}
}

// warn says what limits the numbers.
func (n *instant) warn() {
	if t := n.malformed; t.n > 0 {
		n.c.Warnings = append(n.c.Warnings,
			warning(capture.Malformed, t.n, t.line, "%s inside an output not understood, and not in the numbers",
				quantity.Plural(t.n, "line")))
	}
	for _, f := range n.inconsistent {
		n.c.Warnings = append(n.c.Warnings, warning(capture.Inconsistent, f.n, f.line, "%s", f.text))
	}
	for _, f := range n.cut {
		n.c.Warnings = append(n.c.Warnings, warning(capture.Truncated, f.n, f.line, "%s", f.text))
	}
}

// warnWhole says on the last capture what concerns the whole log.
func (r *reader) warnWhole(c *capture.Capture) {
	if t := r.in.long; t.n > 0 {
		c.Warnings = append(c.Warnings,
			warning(capture.Malformed, t.n, t.line, "%s longer than %d KiB left out", quantity.Plural(t.n, "line"), maxLine>>10))
	}
	if t := r.dropped; t.n > 0 {
		c.Warnings = append(c.Warnings,
			warning(capture.Truncated, t.n, t.line,
				"the log holds more than is kept of one log or one answer, and %s left out: upload the outputs in several logs",
				quantity.Plural(t.n, "row")))
	}
	for _, f := range r.silent {
		c.Warnings = append(c.Warnings, warning(capture.Unsupported, f.n, f.line, "%s", f.text+r.whyBlind()))
	}
	c.Warnings = append(c.Warnings, r.orphans[:min(len(r.orphans), maxOrphans)]...)
	if r.in.src.Guessed() {
		c.Warnings = append(c.Warnings,
			warning(capture.EncodingGuessed, 1, 0,
				"the log is UTF-16 without a byte order mark; that was guessed from its zero bytes"))
	}
}

// maxOrphans bounds the warnings of outputs that gave nothing.
const maxOrphans = 20

// whyBlind says that the debugger lacked symbols, where it says so itself.
func (r *reader) whyBlind() string {
	if r.blind.n == 0 {
		return ""
	}
	return ": the debugger had no symbols of ntdll (set them with .symfix and .reload, and ask again)"
}

// warning makes a warning; line is where first, 0 for nowhere in particular.
func warning(code capture.Code, count, line int64, format string, args ...any) capture.Warning {
	w := capture.Warning{Code: code, Message: fmt.Sprintf(format, args...), Count: count}
	if line > 0 {
		w.Place = fmt.Sprintf("line %d", line)
	}
	return w
}
