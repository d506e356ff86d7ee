package umdh

import (
	"bytes"
	"strings"

	"heapdrift/ingest/capture"
)

// A draft is a capture while its lines come in. What kind it is shows with the first line that only a snapshot or
// only a difference has.
type draft struct {
	in        *lines
	whole     []byte // the line at hand, with the blanks at its end
	c         *capture.Capture
	raw       *snapshot
	diff      *difference
	gathering stackCollector

	header    bool // the line that begins a snapshot was seen
	inModules bool
	banners   []banner
	path      bool   // the next line may be the last banner's path
	addresses uint64 // all that occur, or'ed: how wide they are

	broken    tally // lines of the complaint of the Windows 11 SDK
	bare      bool  // a raw log with entries none of which has a stack
	malformed tally
	foreign   tally // texts that are not UTF-8
	damaged   tally // lines with bytes that text has not

	lastLineCut bool // the log breaks off inside its last line, which is left out
	unread      bool // reading failed
}

func newDraft(in *lines) *draft {
	d := &draft{in: in, c: &capture.Capture{}}
	d.gathering.stacks = &d.c.Stacks
	return d
}

// snapshot makes the draft one of a raw log, if it is not yet.
func (d *draft) snapshot() *snapshot {
	if d.raw == nil {
		d.raw = newSnapshot(d.c, &d.gathering)
		d.c.Kind, d.c.Shape = KindSnapshot, capture.ShapeSnapshot
		d.c.Snapshots = make([]capture.Snapshot, 1)
	}
	return d.raw
}

// difference makes the draft one of a difference, if it is not yet.
func (d *draft) difference() *difference {
	if d.diff == nil {
		d.diff = newDifference(d)
		d.c.Kind, d.c.Shape = KindDifference, capture.ShapeDifference
		d.c.Snapshots = make([]capture.Snapshot, 2)
	}
	return d.diff
}

// inData reports whether every line should now be one that UMDH writes.
func (d *draft) inData() bool {
	return d.inModules || d.raw != nil && d.raw.open() || d.diff != nil && d.diff.begun() && d.diff.total.line == 0
}

// banner takes the first line of a banner, and reports whether it is one.
func (d *draft) banner(text []byte) bool {
	b, ok := d.parseBanner(text)
	if ok {
		d.banners = append(d.banners, b)
		d.path = true
	}
	return ok
}

var legend = [][]byte{[]byte("REQUESTED bytes + OVERHEAD at ADDRESS"), []byte("STACK if not already dumped")}

// listed takes the lines of a list of stacks: a frame, the word that separates stacks of one id, the legend above.
func (d *draft) listed(text []byte) bool {
	for _, known := range legend {
		if bytes.HasPrefix(text, known) {
			return true
		}
	}
	takes := d.raw != nil && d.raw.takesFrames() || d.diff != nil && d.diff.takesFrames()
	switch {
	case !takes:
		return false
	case string(text) == "Alias":
		d.gathering.alias()
		return true
	case d.diff != nil:
		return d.diff.frame(text)
	}
	if address, ok := hexAll(text); ok {
		return d.raw.frame(address)
	}
	s, _ := validText(text)
	t, address, ok := ParseFrame(s)
	if ok {
		d.gathering.add(d.c.Stacks.AddText(t, address))
		d.raw.texts = true
		d.addresses |= address
	}
	return ok
}

// misfit decides about a line that is nothing known. In a log's data it is damage; elsewhere it is prose.
func (d *draft) misfit(text []byte) {
	switch {
	case isBrokenSDK(text):
		d.broken.add(d.in.number)
	case bytes.HasPrefix(text, []byte("Warning:")):
	case d.inData() || likeEntry(text):
		d.malformed.add(d.in.number)
	}
}

// isBrokenSDK recognises the two sentences that UMDH of the Windows 11 SDK says whatever the size of the database.
func isBrokenSDK(text []byte) bool {
	return bytes.Contains(text, []byte("find any allocations that have stacks collected")) ||
		bytes.Contains(text, []byte("Stack Trace Database is full"))
}

// finish makes the capture, or nil where the draft holds nothing.
func (d *draft) finish(opt Options) *capture.Capture {
	switch {
	case d.raw != nil && (d.header || d.raw.begun() || len(d.c.Modules) > 0 || d.broken.n > 0):
		d.finishSnapshot()
	case d.diff != nil:
		d.finishDifference(opt)
	case d.raw == nil && d.broken.n > 0:
		d.snapshot()
		d.finishSnapshot()
	case d.raw == nil && len(d.banners) > 0:
		d.difference()
		d.finishDifference(opt)
	default:
		return nil
	}
	d.warnCommon()
	return d.c
}

// identify names the process by its image, and says how wide its addresses are where there is one.
func (d *draft) identify(modules []capture.Module, addresses uint64) {
	p := &d.c.Process
	for i := range modules {
		name := modules[i].FileName()
		if p.Name == "" {
			p.Name = name
		}
		if strings.HasSuffix(strings.ToLower(name), ".exe") {
			p.Name = name
			break
		}
	}
	switch addresses |= d.addresses; {
	case addresses>>32 != 0:
		p.Bits = 64
	case addresses != 0:
		p.Bits = 32
	}
}
