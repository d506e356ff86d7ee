package year

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// matters is from how many blocks on, in each run, a leak matters: fewer are left to chance.
const matters = 75

// judge holds a verdict against the truth, and lets the team answer.
func (p *player) judge(ctx context.Context, s step, e *evidence, v leaks.RunVerdict) error {
	b, d := s.Build, v.Decision
	p.note("%s on %s, run %d%s: exit %d, %s", b.Name, b.Branch, s.run+1, s.text(&p.Team, e), d.Exit, d.Why)
	failed := map[int]string{}
	for _, signature := range d.FailedSignatures() {
		stack, ok := e.stacks[signature]
		if !ok {
			stack = -1
		}
		failed[stack] = signature
	}
	open, err := p.open(ctx, s, e, failed)
	if err != nil {
		return err
	}
	quiet := !open && (b.Number > 2 || b.Branch != "main")
	for stack, signature := range failed {
		isLeak, err := p.failure(ctx, b, e, d, stack, signature)
		if err != nil {
			return err
		}
		quiet = quiet && !isLeak
	}
	isDoubtRight := d.Exit == 4 && p.areLeaks(b, e, d.Undecided)
	if quiet && !isDoubtRight {
		p.count(b, e, func(f *Figures) { f.Quiet[d.Exit]++ })
		if d.Exit > 0 {
			p.note("    QUIET")
		}
	}
	if len(d.Undecided) > 0 && (d.Exit == 0 || strings.Contains(d.Why, "every leak is known")) {
		p.count(b, e, func(f *Figures) { f.Contradicted++ })
		p.bad = true
	}
	return nil
}

// areLeaks reports whether all that a gate does not decide leaks indeed: a leak that was missed is open.
func (p *player) areLeaks(b *Build, e *evidence, list []leaks.UndecidedFinding) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(u leaks.UndecidedFinding) bool {
		stack, ok := e.stacks[u.Signature]
		l := p.leakOf(stack)
		return !ok || l == nil || !p.has(b, l)
	})
}

// text is how a build was recorded, where that is not as usual.
func (s *step) text(t *Team, e *evidence) string {
	text := fmt.Sprintf(", %d snapshots", s.Snapshots)
	if s.Cut > 0 {
		text += fmt.Sprintf(" cut to %d", s.Cut)
	}
	if t.Lengths {
		text += fmt.Sprintf(" in %.0f h", cmp.Or(s.Seconds, t.Seconds)/shortRun)
	}
	if e.nameless {
		text += ", no symbols yet"
	}
	return text
}

// count counts something about a build under all its labels. Verdicts before the symbols of a build count by
// themselves.
func (p *player) count(b *Build, e *evidence, add func(*Figures)) {
	if e != nil && e.nameless {
		add(p.tally.by("verdict: before the symbols"))
		return
	}
	add(&p.tally.Figures)
	for _, label := range b.labels(&p.Team) {
		add(p.tally.by(label))
	}
}

// note adds a line to the strip of the year.
func (p *player) note(format string, args ...any) {
	p.strip = append(p.strip, fmt.Sprintf(format, args...))
}

// open counts the builds of leaks that came in and that no build failed for, and reports whether there are any.
func (p *player) open(ctx context.Context, s step, e *evidence, failed map[int]string) (found bool, err error) {
	b := s.Build
	for _, l := range p.Leaks {
		at := lineLeak{b.Branch, l.Stack}
		if s.first && p.comesIn(b, l) {
			p.note("    comes in: %s", e.truth[l.Stack])
			p.waiting[at], p.kept[at], p.came[at] = 0, 1<<60, b
			if p.answered[l.Stack] { // a pull request has it already
				p.kept[at] = e.kept[l.Stack]
				p.settle(at, true)
			}
		}
		_, shows := e.truth[l.Stack] // a short run may end before a leak begins
		if !p.has(b, l) || !shows {
			continue
		}
		if _, open := p.waiting[at]; !open {
			continue
		}
		found = true
		if s.first {
			p.waiting[at]++
		}
		p.kept[at] = min(p.kept[at], e.kept[l.Stack])
		if failed[l.Stack] != "" {
			continue
		}
		shown, err := p.shown(ctx, e, l.Stack)
		if err != nil {
			return found, err
		}
		p.note("    open: %s, %s", e.truth[l.Stack], shown)
		if p.waiting[at] >= 3 && s.last {
			p.settle(at, false)
		}
	}
	return found, nil
}

// failure notes for what a build failed, and lets the team answer. It reports whether that leaks.
func (p *player) failure(ctx context.Context, b *Build, e *evidence, d *leaks.Decision, stack int,
	signature string) (bool, error) {
	l, what := p.leakOf(stack), "fails for"
	isLeak := l != nil && p.has(b, l)
	switch {
	case !isLeak:
		p.count(b, e, func(f *Figures) { f.False++ })
		p.bad, what = true, "FALSE"
	case p.answered[stack]:
		p.count(b, e, func(f *Figures) { f.AfterAnswer++ })
		p.bad, what = true, "AFTER AN ANSWER"
	}
	at := slices.IndexFunc(d.Reasons, func(r leaks.Reason) bool { return r.Signature == signature })
	p.note("    %s: %s; %s", what, e.truth[stack], d.Reasons[at].Sentence)
	if !isLeak {
		change := leaks.TriageChange{Actor: "ann", Version: -1, Assignee: new("ann")}
		_, err := p.store.UpdateTriage(ctx, p.project, signature, change)
		return false, err
	}
	for at := range p.waiting { // on the line that a pull request left, too: the team answers for the leak
		if at.stack == stack {
			p.kept[at] = min(p.kept[at], e.kept[stack])
			p.settle(at, true)
		}
	}
	return true, p.answer(ctx, b, l, signature)
}

// shown says what the product makes of a leak that a run does not fail for.
func (p *player) shown(ctx context.Context, e *evidence, stack int) (string, error) {
	side, err := store.Read(ctx, p.store,
		func(v store.View) (*compare.BuildResult, error) { return v.FindRunResult(ctx, e.run) })
	if err != nil {
		return "", err
	}
	s := fmt.Sprintf("%d blocks", e.kept[stack])
	for i := range side.Findings {
		f := &side.Findings[i]
		if at, ok := e.stacks[f.Signature]; !ok || at != stack {
			continue
		}
		s += fmt.Sprintf(", %s, certain %v", f.Class, f.Certain)
		if o := f.Onset; o != nil {
			s += fmt.Sprintf(", %.1f times as much since %d runs as in %d before (%.3f)", o.Factor, o.Since, o.Before,
				o.Probability)
		}
	}
	for i := range e.report.Findings {
		f := &e.report.Findings[i]
		if e.stacks[f.Signature] == stack && f.Evidence != nil {
			s += fmt.Sprintf("; alone %s, log odds %.2f, %v stayed", f.Verdict, f.Evidence.LogOdds, f.Stayed)
		}
	}
	return s, nil
}

// comesIn reports whether a build is the first that was run on its branch of those that leak, or leak again. A run that
// comes late tells nothing: that of a newer build was there before.
func (p *player) comesIn(b *Build, l *Leak) bool {
	at := lineLeak{b.Branch, l.Stack}
	if b.Branch != "main" && b.Branch != release || l.Release != (b.Branch == release) || b.Sequence < p.newest[at] {
		return false
	}
	there := p.there[at] || l.Backlog && p.newest[at] == 0
	p.newest[at], p.there[at] = b.Sequence, p.has(b, l)
	if there && !p.there[at] {
		delete(p.answered, l.Stack) // what was said of it ends with the fix
	}
	return p.there[at] && !there
}

// settle notes whether a build failed for a leak within three builds of its coming.
func (p *player) settle(at lineLeak, failed bool) {
	n, large := p.waiting[at], p.kept[at] >= matters
	delete(p.waiting, at)
	p.count(p.came[at], nil, func(f *Figures) {
		counts := &f.Small
		if large {
			counts = &f.Large
		}
		counts.Came++
		switch {
		case failed && n <= 1:
			counts.First++
			counts.Three++
		case failed:
			counts.Three++
		}
	})
	if !failed {
		p.note("    MISSED: stack %d on %s, %d blocks", at.stack, at.branch, p.kept[at])
		p.bad = p.bad || large
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
			return v.FindHistory(ctx, p.project, names[0])
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

// each counts something about the whole year.
func (p *player) each(add func(*Figures)) {
	add(&p.tally.Figures)
	for _, label := range p.Team.labels() {
		add(p.tally.by(label))
	}
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
		right := !p.has(newest, l)
		p.each(func(f *Figures) { f.FixedSaid.add(right) })
		if !right {
			p.bad = true
			p.note("    NOT FIXED: %s on %s, fixed in %s it says", p.names[l.Stack], line.Branch, line.FixedIn)
		}
	}
	if line.Found || line.FirstBad == "" || l.Backlog || line.Branch != "main" && line.Branch != release || l.Renamed > 0 {
		return
	}
	came, after, bad := p.sequence(p.cameIn(line.Branch, l)), p.sequence(line.LastClean), p.sequence(line.FirstBad)
	if came == 0 {
		return
	}
	right := after < came && came <= bad
	p.each(func(f *Figures) { f.Intervals.add(right) })
	if right {
		return
	}
	p.bad = true
	p.note("    INTERVAL: %s on %s came in %d, not between %s and %s", p.names[l.Stack], line.Branch, came, line.LastClean,
		line.FirstBad)
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
