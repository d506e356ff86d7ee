package analysis

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// JoinedBy says what shows that blocks without call stacks are those of a finding with one.
type JoinedBy string

// What joins a line of source with a call stack.
const (
	ByAddress JoinedBy = "address" // both list blocks of one size at one address of one process
	ByLine    JoinedBy = "line"    // the blamed frame is at that line, and the blocks have the same size
)

// A JoinedLine is what evidence without call stacks alone would show as a finding of its own, and that is part of a
// finding with a call stack because the run has both.
type JoinedLine struct {
	Signature string   `json:"signature"` // that the evidence alone gives it
	Title     string   `json:"title"`
	Place     string   `json:"place,omitempty"` // file and line; "" of blocks without
	By        JoinedBy `json:"by"`

	Alone *Finding `json:"-"` // nil of a report that was read from JSON
}

// A sourceLine is a line of source by the name of its file without the folder, in lower case.
type sourceLine struct {
	file string
	line uint32
}

// stackAtLine is the sites of one kind of evidence that have one signature and are blamed on one line of one file.
type stackAtLine struct {
	signature string
	path      string
	of        int // which draft
	held      Amount
}

// lineFinding is a finding of evidence without call stacks, with what it is joined by.
type lineFinding struct {
	*draftFinding
	paths map[string]uint32 // the lines of its blocks, by file
	held  Amount
	same  map[string]bool // signatures of stacks that other lists have for its blocks
}

// isOfLines reports whether evidence of one kind has no call stacks, but lines of source.
func isOfLines(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Lines != nil })
}

// joinLines gives findings without call stacks, of other kinds of evidence, the signatures of findings of the run that
// are the same blocks. A file and a line hold for one build, so that only evidence of one run is joined here. All
// findings must have their text.
func (d *draft) joinLines(ctx context.Context, others []*draft) error {
	if isOfLines(d.parts) {
		return nil
	}
	stacks := []*draft{d}
	for _, o := range others {
		if !isOfLines(o.parts) {
			stacks = append(stacks, o)
		}
	}
	for _, o := range others {
		if !isOfLines(o.parts) {
			continue
		}
		list, wanted := o.lineFindings(signaturesOfStacks(stacks))
		at := stacksAtLines(stacks, wanted)
		targets, totals := map[string]*Finding{}, map[string][]Amount{}
		for _, s := range slices.Backward(stacks) { // the text of the report's own evidence counts
			for _, f := range s.findings {
				targets[f.Signature] = &f.Finding
				totals[f.Signature] = append(totals[f.Signature], f.Outstanding)
			}
		}
		var doubts lineDoubts
		for _, f := range list {
			if ctx.Err() != nil {
				return fmt.Errorf("analysis: %w", context.Cause(ctx))
			}
			signature, by, doubt := f.choose(at, totals)
			target := targets[signature]
			switch {
			case doubt != noDoubt:
				doubts.add(doubt, f)
			case target != nil:
				f.join(target, by)
			}
		}
		o.findings = mergeJoined(o.findings)
		doubts.warn(d, string(o.parts[0].Kind))
	}
	return nil
}

// lineFindings are the findings of a draft without call stacks that leak, with the lines that they are at.
func (d *draft) lineFindings(signatures map[string]string) (list []*lineFinding, wanted map[sourceLine]bool) {
	at := map[string]*lineFinding{}
	for _, f := range d.findings {
		if f.LeftAtExit != nil && f.Verdict == ClassLeftAtExit {
			at[f.Signature] = &lineFinding{draftFinding: f, paths: map[string]uint32{}, same: map[string]bool{}}
			list = append(list, at[f.Signature])
		}
	}
	wanted = map[sourceLine]bool{}
	bySite := map[*mergedSite]*lineFinding{}
	for _, site := range d.sites {
		f := at[site.signature]
		if f == nil {
			continue
		}
		bySite[site.mergedSite] = f
		f.held = f.held.Plus(site.Outstanding)
		if b := site.frames.blamed(site.stack); b != nil && b.File != "" {
			f.paths[b.File] = b.Line
			wanted[sourceLine{baseName(b.File), b.Line}] = true
		}
	}
	d.addSameBlocks(bySite, signatures)
	return list, wanted
}

// addSameBlocks gives findings the signatures of the stacks that other lists have for their blocks.
func (d *draft) addSameBlocks(of map[*mergedSite]*lineFinding, signatures map[string]string) {
	for p := range d.parts {
		c := d.parts[p].Capture
		for i := range c.Lines {
			if len(c.Lines[i].SameBlocks) == 0 {
				continue
			}
			if f := of[d.series.order[d.series.places[p][i]]]; f != nil {
				for _, stack := range c.Lines[i].SameBlocks {
					f.same[signatures[stackText(c, stack)]] = true
				}
			}
		}
	}
}

// signaturesOfStacks are the signatures of stacks that lists show, by their text.
func signaturesOfStacks(stacks []*draft) map[string]string {
	signatures := map[string]string{}
	for _, d := range stacks {
		of := map[*mergedSite]string{}
		for _, site := range d.sites {
			of[site.mergedSite] = site.signature
		}
		for p := range d.parts {
			if !d.parts[p].isList() {
				continue
			}
			for i := range d.parts[p].Sites {
				signatures[stackText(d.parts[p].Capture, d.parts[p].Sites[i].Stack)] = of[d.series.order[d.series.places[p][i]]]
			}
		}
	}
	return signatures
}

// stackText is a stack as the evidence spells it.
func stackText(c *capture.Capture, stack capture.StackID) string {
	var b []byte
	for _, id := range c.Stacks.Stack(stack) {
		f := c.Stacks.Frame(id)
		b = binary.LittleEndian.AppendUint64(b, f.Address)
		if t := c.Stacks.Text(f); t != nil {
			b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, t.Line), t.Offset)
			b = append(append(append(append(b, t.Module...), '!'), t.Function...), '\n')
			b = append(b, t.File...)
		}
		b = append(b, 0)
	}
	return string(b)
}

// stacksAtLines are the sites that are blamed on the wanted lines.
func stacksAtLines(stacks []*draft, wanted map[sourceLine]bool) map[sourceLine][]stackAtLine {
	at := map[sourceLine][]stackAtLine{}
	for n, d := range stacks {
		for _, site := range d.sites {
			if site.key.kind != capture.KindHeap {
				continue
			}
			b := site.frames.blamed(site.stack)
			if b == nil || b.File == "" {
				continue
			}
			line := sourceLine{baseName(b.File), b.Line}
			if !wanted[line] {
				continue
			}
			held, _ := site.HeldBeforeExit()
			k := slices.IndexFunc(at[line], func(s stackAtLine) bool {
				return s.signature == site.signature && s.path == b.File && s.of == n
			})
			if k < 0 {
				k = len(at[line])
				at[line] = append(at[line], stackAtLine{signature: site.signature, path: b.File, of: n})
			}
			at[line][k].held = at[line][k].held.Plus(held)
		}
	}
	return at
}

// A lineDoubt is why blocks are not joined with a call stack that may be theirs.
type lineDoubt int

const (
	noDoubt lineDoubt = iota
	ofSeveralStacks
	ofOtherSizes
	ofMoreBlocks
	lineDoubtCount
)

// choose finds the signature that the blocks of a finding have in the evidence with call stacks; "" for none. A wrong
// one would hide a leak behind another: the choice must be the only one.
//
// Blocks without a line look like many others: all blocks of the call stack must be these.
func (f *lineFinding) choose(at map[sourceLine][]stackAtLine, totals map[string][]Amount) (signature string, by JoinedBy, doubt lineDoubt) {
	var there []stackAtLine
	for path, line := range f.paths {
		for _, s := range at[sourceLine{baseName(path), line}] {
			if isSameFile(path, s.path) {
				there = append(there, s)
			}
		}
	}
	signatures := map[string]bool{}
	for s := range f.same {
		signatures[s] = true
	}
	for _, s := range there {
		signatures[s.signature] = true
	}
	switch len(signatures) {
	case 0:
		return "", "", noDoubt
	case 1:
	default:
		return "", "", ofSeveralStacks
	}
	for s := range signatures {
		signature = s
	}
	switch {
	case f.same[signature] && (len(f.paths) > 0 || slices.Contains(totals[signature], f.held)):
		return signature, ByAddress, noDoubt
	case f.same[signature]:
		return "", "", ofMoreBlocks
	}
	if slices.ContainsFunc(there, func(s stackAtLine) bool { return IsSameBlockSize(f.held, s.held) }) {
		return signature, ByLine, noDoubt
	}
	return "", "", ofOtherSizes
}

// Bytes that the debug CRT adds to a block that it takes from the heap: its header, and four bytes behind the block.
const crtBytes32, crtBytes64 = 36, 52

// IsSameBlockSize reports whether blocks of a list have the size of others on average, as the program asked for it or as
// the debug CRT asked the heap for it.
func IsSameBlockSize(list, other Amount) bool {
	for _, more := range []int64{0, crtBytes32, crtBytes64} {
		if list.Count > 0 && other.Count > 0 &&
			float64(list.Bytes+more*list.Count)*float64(other.Count) == float64(other.Bytes)*float64(list.Count) {
			return true
		}
	}
	return false
}

// isSameFile reports whether two paths may be of one file: the one ends with the other, relative folders left out.
func isSameFile(a, b string) bool {
	a, b = plainPath(a), plainPath(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return strings.HasSuffix(a, b) && (len(a) == len(b) || a[len(a)-len(b)-1] == '/')
}

// plainPath is a path in lower case with slashes, from behind its last "..".
func plainPath(path string) string {
	path = "/" + strings.ReplaceAll(strings.ToLower(path), `\`, "/")
	for _, up := range []string{"/../", "/./"} {
		if at := strings.LastIndex(path, up); at >= 0 {
			path = path[at+len(up)-1:]
		}
	}
	return path[1:]
}

func baseName(path string) string {
	return strings.ToLower(path[strings.LastIndexAny(path, `\/`)+1:])
}

// place is where the blocks were allocated; "" for unknown.
func (f *lineFinding) place() string {
	if f.Blame == nil || f.Blame.File == "" {
		return ""
	}
	return (&Frame{File: f.Blame.File, Line: f.Blame.Line}).FileLine()
}

// join gives a finding the signature of another, and the text that goes with it.
func (f *lineFinding) join(to *Finding, by JoinedBy) {
	alone := f.Finding
	f.Joined = []JoinedLine{{Signature: alone.Signature, Title: alone.Title, Place: f.place(), By: by, Alone: &alone}}
	f.Signature, f.Title, f.Blame, f.Origin, f.Frames, f.Fine, f.Leaf, f.Outline, f.Provisional = to.Signature, to.Title,
		to.Blame, to.Origin, to.Frames, to.Fine, to.Leaf, to.Outline, to.Provisional
	f.Owner, f.Known, f.Group = cmp.Or(to.Owner, f.Owner), cmp.Or(to.Known, f.Known), cmp.Or(to.Group, f.Group)
}

// mergeJoined makes findings of one draft that were given one signature one finding: several lines of a function may
// allocate what one call stack shows.
func mergeJoined(list []*draftFinding) []*draftFinding {
	at := map[string]*draftFinding{}
	return slices.DeleteFunc(list, func(f *draftFinding) bool {
		if f.Joined == nil {
			return false
		}
		into := at[f.Signature]
		if into == nil {
			at[f.Signature] = f
			return false
		}
		left := into.LeftAtExit.plus(f.LeftAtExit)
		into.LeftAtExit, into.Certain = left, into.Certain || f.Certain
		into.Outstanding, into.Sites = into.Outstanding.Plus(f.Outstanding), into.Sites+f.Sites
		into.ByKind[0].Amounts.Outstanding = into.Outstanding
		into.Joined = append(into.Joined, f.Joined...)
		into.Clauses = left.clauses()
		return true
	})
}

// plus are the blocks of two findings of one tool together.
func (l *LeftAtExit) plus(o *LeftAtExit) *LeftAtExit {
	sum := &LeftAtExit{Unsearched: l.Unsearched.Plus(o.Unsearched), Unreferenced: l.Unreferenced.Plus(o.Unreferenced),
		Indirect: l.Indirect.Plus(o.Indirect), Possible: l.Possible.Plus(o.Possible), Reachable: l.Reachable.Plus(o.Reachable), BeforeTests: l.BeforeTests.Plus(o.BeforeTests),
		Tools: union(l.Tools, o.Tools), Programs: union(l.Programs, o.Programs), MoreTests: max(l.MoreTests, o.MoreTests)}
	for _, test := range slices.Concat(l.Tests, o.Tests) {
		switch {
		case slices.Contains(sum.Tests, test):
		case len(sum.Tests) < MaxTests:
			sum.Tests = append(sum.Tests, test)
		default:
			sum.MoreTests++
		}
	}
	return sum
}

// explainJoined says of findings what joins the evidence without call stacks to them.
func (d *draft) explainJoined() {
	for _, f := range d.findings {
		for _, j := range f.Joined {
			text := "Listed without a call stack as " + j.Title
			if j.By == ByAddress {
				text += ": the same blocks, by their addresses."
			} else {
				text += ": blocks of this size from the same line, " + j.Place + "."
			}
			f.Clauses = append(f.Clauses, score.Clause{Rule: "joined-line", Holds: new(true), Text: text})
		}
	}
}

// whyDoubted says why lines are not joined.
var whyDoubted = [lineDoubtCount]string{
	ofSeveralStacks: "several call stacks allocate there",
	ofOtherSizes:    "the call stack there has blocks of another size",
	ofMoreBlocks:    "the call stack is that of some of these blocks only",
}

// lineDoubts are the findings that are not joined though a call stack may be theirs, by why.
type lineDoubts [lineDoubtCount]struct {
	count int64
	first string
}

func (l *lineDoubts) add(doubt lineDoubt, f *lineFinding) {
	if l[doubt].count++; l[doubt].count == 1 {
		l[doubt].first = cmp.Or(f.place(), f.Title)
	}
	f.SeveralStacks = doubt == ofSeveralStacks
}

// warn warns of what is not joined.
func (l *lineDoubts) warn(d *draft, kind string) {
	for doubt, at := range l {
		if at.count == 0 {
			continue
		}
		where := at.first
		if at.count > 1 {
			where += " and " + quantity.Plural(at.count-1, "more line")
		}
		d.chosen.warnings = append(d.chosen.warnings, Warning{Code: capture.Unsupported, Count: at.count,
			Message: fmt.Sprintf("%s: blocks of %s are not joined with a call stack: %s.", kind, where, whyDoubted[doubt])})
	}
}
