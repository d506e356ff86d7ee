package year

import (
	"context"
	"fmt"
	"strings"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// matters is from how many blocks on, in each run, a leak matters: fewer are left to chance.
const matters = 75

// judge holds a verdict against the truth, and lets the team answer.
func (p *player) judge(ctx context.Context, b *Build, run int, e *evidence, v leaks.Verdict) error {
	d := v.Decision
	line := fmt.Sprintf("%s on %s, run %d: exit %d, %s", b.Name, b.Branch, run+1, d.Exit, d.Why)
	quiet := b.Number > 2 || b.Branch != "main"
	failedFor := map[int]string{}
	for _, signature := range d.Failed() {
		stack, ok := e.stacks[signature]
		if !ok {
			stack = -1
		}
		failedFor[stack] = signature
	}
	for _, l := range p.Leaks {
		at := lineLeak{b.Branch, l.Stack}
		if p.comesIn(b, l) && run == 0 {
			line += fmt.Sprintf("\n      comes in: %s", e.truth[l.Stack])
			p.waiting[at], p.kept[at] = 0, 1<<60
			delete(p.answered, l.Stack)
		}
		if _, open := p.waiting[at]; !open || !p.has(b, l) || b.Idle[l.Stack] {
			continue
		}
		quiet = false
		p.waiting[at]++
		p.kept[at] = min(p.kept[at], e.kept[l.Stack])
		if failedFor[l.Stack] != "" {
			p.settle(at, true)
		} else if p.waiting[at] >= 3 {
			p.settle(at, false)
		}
	}
	for stack, signature := range failedFor {
		l := p.leakOf(stack)
		switch {
		case l == nil || !p.has(b, l):
			p.tally.False++
			p.bad = true
			line += "\n      FALSE: " + e.truth[stack]
			change := leaks.Change{Actor: "ann", Version: -1, Assignee: new("ann")}
			if _, err := p.store.ChangeTriage(ctx, p.project, signature, change); err != nil {
				return err
			}
			continue
		case p.answered[stack]:
			p.tally.AfterAnswer++
			p.bad = true
			line += "\n      AFTER AN ANSWER: " + e.truth[stack]
		default:
			line += "\n      fails for: " + e.truth[stack]
		}
		quiet = false
		if err := p.answer(ctx, b, l, signature); err != nil {
			return err
		}
	}
	if quiet {
		p.tally.Quiet[d.Exit]++
	}
	if d.Exit == 0 && len(d.Undecided) > 0 || strings.Contains(d.Why, "every leak is known") && len(d.Undecided) > 0 {
		p.tally.Contradicted++
		p.bad = true
	}
	p.strip = append(p.strip, line)
	return nil
}

// settle notes whether a build failed for a leak within three builds of its coming.
func (p *player) settle(at lineLeak, failed bool) {
	n := p.waiting[at]
	delete(p.waiting, at)
	counts := &p.tally.Small
	if p.kept[at] >= matters {
		counts = &p.tally.Large
	}
	counts.Came++
	switch {
	case failed && n == 1:
		counts.First++
		counts.Three++
	case failed:
		counts.Three++
	default:
		p.strip = append(p.strip, fmt.Sprintf("      MISSED: stack %d on %s, %d blocks", at.stack, at.branch, p.kept[at]))
		p.bad = p.bad || p.kept[at] >= matters
	}
}

// states holds what the project says of each leak at the end against the truth.
func (p *player) states(ctx context.Context) error {
	for _, l := range p.Leaks {
		names := p.names[l.Stack]
		if len(names) == 0 {
			continue
		}
		h, err := store.Read(ctx, p.store, func(v store.View) (*store.History, error) {
			return v.SignatureHistory(ctx, p.project, names[0])
		})
		if err != nil {
			return err
		}
		for i := range h.Lines {
			p.state(l, &h.Lines[i])
		}
	}
	return nil
}

func (p *player) state(l *Leak, line *leaks.LineState) {
	var newest *Build
	for _, b := range p.Builds {
		if b.Branch == line.Branch && b.Runs > 0 && !b.Idle[l.Stack] {
			newest = b
		}
	}
	if newest == nil {
		return
	}
	if line.State == leaks.StateFixed {
		p.tally.FixedSaid++
		if !p.has(newest, l) {
			p.tally.FixedRight++
		} else {
			p.bad = true
			p.strip = append(p.strip, fmt.Sprintf("      NOT FIXED: %s on %s, fixed in %s it says", p.names[l.Stack], line.Branch, line.FixedIn))
		}
	}
	if line.Found || line.FirstBad == "" || l.Backlog || line.Branch != "main" && line.Branch != release || l.Renamed > 0 {
		return
	}
	came, after, bad := p.sequence(p.cameIn(line.Branch, l)), p.sequence(line.LastClean), p.sequence(line.FirstBad)
	if came == 0 {
		return
	}
	p.tally.Intervals++
	if after < came && came <= bad {
		p.tally.IntervalsRight++
		return
	}
	p.bad = true
	p.strip = append(p.strip, fmt.Sprintf("      INTERVAL: %s on %s came in %d, not between %s and %s", p.names[l.Stack], line.Branch, came, line.LastClean, line.FirstBad))
}

// cameIn is the build of a branch, or of main before the fork, that brought a leak; "" for none.
func (p *player) cameIn(branch string, l *Leak) string {
	for _, b := range p.Builds {
		if (b.Branch == branch || branch == release && b.Branch == "main" && b.Number <= p.Fork) && p.has(b, l) {
			return b.Name
		}
	}
	return ""
}

func (p *player) sequence(build string) int64 {
	for _, b := range p.Builds {
		if b.Name == build {
			return b.Sequence
		}
	}
	return 0
}
