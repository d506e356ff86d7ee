package analysis

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
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

// joinLines gives findings without call stacks, of other kinds of evidence, the signatures of findings of the run
// that are the same blocks. A file and a line hold for one build, so that only evidence of one run is joined here.
// All findings must have their text.
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
func (f *lineFinding) choose(at map[sourceLine][]stackAtLine, totals map[string][]Amount) (
	signature string, by JoinedBy, doubt lineDoubt,
) {
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

// place is where the blocks were allocated; "" for unknown.
func (f *lineFinding) place() string {
	if f.Blame == nil || f.Blame.File == "" {
		return ""
	}
	return (&Frame{File: f.Blame.File, Line: f.Blame.Line}).FileLine()
}
