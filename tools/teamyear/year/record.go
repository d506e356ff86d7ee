package year

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/workload"
)

// An evidence is the report on one run of a build, and which finding is of which stack.
type evidence struct {
	run      int64 // of the store
	report   *analysis.Report
	stacks   map[string]int // by signature
	truth    map[int]string // by stack: what it does
	kept     map[int]int64  // by stack: blocks that came in the first three quarters and stayed
	nameless bool           // the symbols of the program are not there yet
}

// Titles of functions, with symbols and without.
var (
	stackNumber  = regexp.MustCompile(`Stack(\d+)::Allocate`)
	stackAddress = regexp.MustCompile(`^workload\+0x([0-9a-f]+)000$`)
)

// record plays a run of a build and reports on it as the product does. Stacks beyond those of one workload come from
// further ones, until the program has so many.
func (p *player) record(ctx context.Context, b *Build, run int, nameless bool) (*evidence, error) {
	e := &evidence{stacks: map[string]int{}, truth: map[int]string{}, kept: map[int]int64{}, nameless: nameless}
	for part := 0; part*workload.StacksPerProcess < p.places; part++ {
		w := p.Team.workload(p.Seed, uint64(part), uint64(b.Sequence*4+int64(run)), p.behaviours)
		w.Recorded, w.Nameless = b.Seconds, nameless
		r, err := analyse(ctx, w, &b.Recording)
		if err != nil {
			return nil, fmt.Errorf("build %s of seed %d: %w", b.Name, p.Seed, err)
		}
		if part == 0 {
			e.report = r
		}
		p.take(e, r, w, b, part)
	}
	return e, nil
}

func analyse(ctx context.Context, p *workload.Process, recording *Recording) (*analysis.Report, error) {
	logs, err := p.Logs(ctx, recording.Snapshots)
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	if recording.Cut > 0 {
		logs.Inputs = logs.Inputs[:recording.Cut]
	}
	r, err := analysis.Analyze(ctx, logs.Inputs, logs.Options)
	if err != nil {
		return nil, err
	}
	r.SetStackKeys()
	for i := range r.Findings { // what names tell is read while the evidence is open
		_ = r.Findings[i].Title
	}
	return r, nil
}

// take adds what the program of the build has of a report.
func (s *Script) take(e *evidence, r *analysis.Report, p *workload.Process, b *Build, part int) {
	findings, sites := r.Findings, r.Sites
	if part == 0 {
		e.report.Findings, e.report.Sites = nil, nil
	}
	named := map[string]string{} // by signature of the workload
	for _, f := range findings {
		stack := part * workload.StacksPerProcess
		if n := stackOf(&f); n >= 0 {
			stack += n
			switch {
			case s.shows(b, stack, p.Stacks[n].Truth, part):
			case part == 0 && s.isRepaired(b, stack):
				f = repaired(f)
			default:
				continue
			}
			e.truth[stack] = p.Stacks[n].Name
			f.Owner = ownerOf(stack)
		} else if part > 0 {
			continue
		}
		name := f.Signature
		s.rename(&f, e, b, stack, part)
		named[name] = f.Signature
		e.stacks[f.Signature] = stack
		e.kept[stack] = f.Stayed.Total() - f.Stayed[len(f.Stayed)-1]
		e.report.Findings = append(e.report.Findings, f)
	}
	for _, site := range sites {
		if name, ok := named[site.Signature]; ok && part == 0 {
			site.Signature = name
			e.report.Sites = append(e.report.Sites, site)
		}
	}
}

// stackOf is the stack of a workload that a finding is of, -1 for none.
func stackOf(f *analysis.Finding) int {
	if m := stackNumber.FindStringSubmatch(f.Title); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	if m := stackAddress.FindStringSubmatch(f.Title); m != nil {
		n, _ := strconv.ParseInt(m[1], 16, 32)
		return int(n) - 1
	}
	return -1
}

// ownerOf is who owns a stack by the rules of the project.
func ownerOf(stack int) string { return fmt.Sprintf("team %d", stack%3) }

// rename gives a finding the names that the build has.
func (s *Script) rename(f *analysis.Finding, e *evidence, b *Build, stack, part int) {
	replace := func(old, with string) {
		f.Title, f.Frames = strings.Replace(f.Title, old, with, 1), slices.Clone(f.Frames)
		for i := range f.Frames {
			f.Frames[i] = strings.Replace(f.Frames[i], old, with, 1)
		}
	}
	if part > 0 {
		f.Signature += fmt.Sprintf("-%d", part)
		replace("workload", fmt.Sprintf("workload%d", part)) // whose functions those of other parts say nothing of
	}
	if e.nameless { // functions lie elsewhere in each build
		f.Signature += "-" + b.Name
		replace("+0x", fmt.Sprintf("+0x%x", 16+b.Sequence))
		return
	}
	if l := s.leakOf(stack); l != nil && l.Renamed > 0 && b.Main >= l.Renamed && b.Branch != release {
		f.Signature += "-renamed"
		f.Title, f.Frames = strings.Replace(f.Title, "::Allocate", "::Acquire", 1), slices.Clone(f.Frames)
		f.Frames[0] = strings.Replace(f.Frames[0], "::Allocate", "::Acquire", 1)
		f.Leaf, f.Fine = f.Leaf+"-renamed", f.Fine+"-renamed"
	}
}

// shows reports whether runs of a build show a stack.
func (s *Script) shows(b *Build, stack int, truth behaviour.Truth, part int) bool {
	if truth != behaviour.Leaks {
		return true
	}
	l := s.leakOf(stack)
	return part == 0 && l != nil && !b.Idle[stack] && s.has(b, l)
}

// isRepaired reports whether a stack leaked on the line of a build before, and its runs still allocate there.
func (s *Script) isRepaired(b *Build, stack int) bool {
	l := s.leakOf(stack)
	if l == nil || b.Idle[stack] || s.has(b, l) {
		return false
	}
	return b.Branch == release && l.Picked > 0 || b.Branch != release && l.Fixed > 0 && b.Main >= l.Fixed
}

// repaired is what a run shows of a stack that frees all that it allocates.
func repaired(f analysis.Finding) analysis.Finding {
	f.Verdict, f.Certain, f.Score, f.Rate, f.Evidence = analysis.ClassTransient, false, nil, nil, nil
	f.Stayed, f.MostHeld, f.Growth = score.StayedBlocks{0, 0, 0, 3}, 3, &analysis.Amount{Count: 1, Bytes: 64}
	return f
}

func (s *Script) leakOf(stack int) *Leak {
	for _, l := range s.Leaks {
		if l.Stack == stack {
			return l
		}
	}
	return nil
}
