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
	held Amount
	// lines are the lines of its blocks, each with the signatures of stacks that other lists have for blocks of it. The
	// signature is numbered in each log: blocks of several logs may be of several lines.
	lines map[sourceLine]map[string]bool // by the path as the evidence spells it; "" of blocks without
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
			at[f.Signature] = &lineFinding{draftFinding: f, lines: map[sourceLine]map[string]bool{}}
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
	}
	d.addLines(bySite, signatures)
	for _, f := range list {
		for line := range f.lines {
			if line.file != "" {
				wanted[sourceLine{baseName(line.file), line.line}] = true
			}
		}
	}
	return list, wanted
}

// addLines gives findings their lines, and the signatures of the stacks that other lists have for blocks of each.
func (d *draft) addLines(of map[*mergedSite]*lineFinding, signatures map[string]string) {
	for p := range d.parts {
		c := d.parts[p].Capture
		for i := range c.Lines {
			f := of[d.series.order[d.series.places[p][i]]]
			if f == nil {
				continue
			}
			line := lineOf(c, d.parts[p].Sites[i].Stack)
			if f.lines[line] == nil {
				f.lines[line] = map[string]bool{}
			}
			for _, stack := range c.Lines[i].SameBlocks {
				f.lines[line][signatures[stackText(c, stack)]] = true
			}
		}
	}
}

// lineOf is the line of a site without a call stack, with the path of its file.
func lineOf(c *capture.Capture, stack capture.StackID) sourceLine {
	for _, id := range c.Stacks.Stack(stack) {
		if t := c.Stacks.Text(c.Stacks.Frame(id)); t != nil && t.File != "" {
			return sourceLine{t.File, t.Line}
		}
	}
	return sourceLine{}
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
	ofOtherLines
	lineDoubtCount
)

// choose finds the signature that the blocks of a finding have in the evidence with call stacks; "" for none. A wrong
// one would hide a leak behind another: the choice must be the only one.
//
// Blocks without a line look like many others: all blocks of the call stack must be these. Of several lines with one
// signature all must lead to the same call stack.
func (f *lineFinding) choose(at map[sourceLine][]stackAtLine, totals map[string][]Amount) (
	signature string, by JoinedBy, doubt lineDoubt,
) {
	signatures, alone := map[string]bool{}, false
	there := map[sourceLine][]stackAtLine{}
	for line, same := range f.lines {
		for s := range same {
			signatures[s] = true
		}
		for _, s := range at[sourceLine{baseName(line.file), line.line}] {
			if line.file != "" && isSameFile(line.file, s.path) {
				there[line] = append(there[line], s)
				signatures[s.signature] = true
			}
		}
		alone = alone || len(same) == 0 && len(there[line]) == 0
	}
	switch {
	case len(signatures) == 0:
		return "", "", noDoubt
	case len(signatures) > 1:
		return "", "", ofSeveralStacks
	case alone:
		return "", "", ofOtherLines
	}
	for s := range signatures {
		signature = s
	}
	by = ByAddress
	for line, same := range f.lines {
		switch {
		case same[signature] && (line.file != "" || slices.Contains(totals[signature], f.held)):
		case same[signature]:
			return "", "", ofMoreBlocks
		case slices.ContainsFunc(there[line], func(s stackAtLine) bool { return isSameBlockSize(f.held, s.held) }):
			by = ByLine
		default:
			return "", "", ofOtherSizes
		}
	}
	return signature, by, noDoubt
}

// place is where the blocks were allocated; "" for unknown.
func (f *lineFinding) place() string {
	if f.Blame == nil || f.Blame.File == "" {
		return ""
	}
	return (&Frame{File: f.Blame.File, Line: f.Blame.Line}).FileLine()
}
