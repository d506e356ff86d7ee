package analysis

import (
	"context"
	"slices"
)

// describeShown makes the text of the findings that somebody will look at: of all, where other evidence or the
// project's rules need it.
func (d *draft) describeShown(ctx context.Context) error {
	d.shown = len(d.findings)
	if d.opt.ShownRows > 0 && len(d.chosen.otherKinds) == 0 && !d.opt.Rules.HasAttributes() {
		d.shown = min(d.shown, d.opt.ShownRows)
	}
	return d.describeFirst(ctx, d.shown)
}

// describeCauses makes the text of as many more findings as are lost together: a list shows a cause as one.
func (d *draft) describeCauses(ctx context.Context) error {
	return d.describeFirst(ctx, min(len(d.findings), d.shown+d.report.lostTogether()))
}

// addOtherKinds adds what each other kind of evidence says of the findings.
func (d *draft) addOtherKinds(ctx context.Context) error {
	joins := slices.ContainsFunc(d.chosen.otherKinds, isOfLines)
	var kept []*draft // all at once only where evidence without call stacks needs them
	for _, parts := range d.chosen.otherKinds {
		other, err := draftOf(ctx, parts, nil, &d.opt)
		if err != nil {
			return err
		}
		if err := other.describeFirst(ctx, len(other.findings)); err != nil {
			return err
		}
		if kept = append(kept, other); !joins {
			d.takeOtherKinds(kept)
			kept = nil
		}
	}
	if joins {
		if err := d.joinLines(ctx, kept); err != nil {
			return err
		}
		d.takeOtherKinds(kept)
		d.explainJoined()
	}
	return nil
}

func (d *draft) takeOtherKinds(others []*draft) {
	for _, other := range others {
		d.addOtherKind(other)
		d.chosen.warnings = append(d.chosen.warnings, otherKindWarnings(other.report.Warnings)...)
	}
}

// addMemory adds what the evidence says of memory beside sites.
func (d *draft) addMemory(ctx context.Context) (err error) {
	r, all := d.report, d.chosen.all()
	if r.Memory, err = memories(ctx, all, &d.opt, d.table); err != nil {
		return err
	}
	r.MemoryHistory, r.Reported = memoryHistoryOf(all), reported(r.Memory)
	return nil
}

func (d *draft) listUnreached() { d.report.Unreachable = unreached(d.findings) }

func (d *draft) listEvidence() { d.report.Evidence = evidence(d.inputs, d.chosen.all()) }

// warnOfChoice adds the warnings about what was chosen, and those of evidence that has no sites.
func (d *draft) warnOfChoice() {
	r, others := d.report, d.chosen.otherProcesses()
	if len(others) > 0 && d.doubted == nil {
		d.doubted = &others[0]
	}
	ofFacts := otherKindWarnings(readerWarnings(d.chosen.facts))
	r.Warnings = slices.Concat(others, d.chosen.warnings, r.Warnings, ofFacts)
}

// doubtIncomplete takes certainty and power from evidence that lost something or may be of several processes.
func (d *draft) doubtIncomplete() {
	if d.doubted != nil {
		for _, f := range d.findings {
			f.Certain = false
		}
	}
	if firstLossy(d.report.Warnings) != nil || d.doubted != nil { // the verdict is inconclusive, whatever leaks
		d.report.Power, d.powerless = nil, ""
	}
}

// conclude draws the conclusion.
func (d *draft) conclude() {
	d.report.Verdict = d.decide()
	d.report.Verdict.Suffices = new(d.suffices())
}

// listFindings puts the findings into the report.
func (d *draft) listFindings() {
	d.report.Findings = make([]Finding, len(d.findings))
	for i, f := range d.findings {
		d.report.Findings[i] = f.Finding
	}
}

// joinStacks joins equal stacks, where there may be any. All sites need their text for that.
func (d *draft) joinStacks() {
	r := d.report
	if !d.table.repeats {
		return
	}
	inParts(len(r.Sites), func(from, to int) {
		for i := from; i < to; i++ {
			r.lazy.write(i, &r.Sites[i])
		}
	})
	r.lazy.written = len(r.Sites)
	r.Stacks = r.Stacks.only(r.stackRefs())
}
