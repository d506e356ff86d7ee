package year

import (
	"context"
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// A player plays a script against the store of the product: it saves results as a worker does, asks for verdicts as
// push does, and answers as a team does.
type player struct {
	*Script
	store      *store.Store
	project    string
	places     int
	behaviours []behaviour.Behaviour
	names      map[int][]string // signatures by stack
	answered   map[int]bool     // stacks of leaks that somebody accepted or took, until they come back
	waiting    map[lineLeak]int // builds since it came in, of those that no build failed for
	kept       map[lineLeak]int64
	came       map[lineLeak]*Build // in which it came in, of those that wait
	named      map[int64]*evidence // by run of the store, of those with symbols
	later      []later             // in the order in which it was put off
	there      map[lineLeak]bool   // by the newest build that was run
	newest     map[lineLeak]int64  // its sequence
	tally      *Tally
	strip      []string
	bad        bool
}

type lineLeak struct {
	branch string
	stack  int
}

// play plays a whole script, in a project of its own.
func (p *player) play(ctx context.Context) error {
	p.names, p.answered = map[int][]string{}, map[int]bool{}
	p.waiting, p.kept = map[lineLeak]int{}, map[lineLeak]int64{}
	p.came, p.named = map[lineLeak]*Build{}, map[int64]*evidence{}
	p.there, p.newest = map[lineLeak]bool{}, map[lineLeak]int64{}
	for i, b := range p.Builds {
		if b.Late {
			p.later = append(p.later, later{i + b.After, func() error { return p.build(ctx, i, b) }})
		} else if err := p.build(ctx, i, b); err != nil {
			return err
		}
		if err := p.catchUp(i); err != nil {
			return err
		}
	}
	if err := p.catchUp(len(p.Builds) + mostAfter); err != nil {
		return err
	}
	if err := p.states(ctx); err != nil {
		return err
	}
	return p.keptNames(ctx)
}

// A later is what happens after the run of another build, by its index.
type later struct {
	after int
	do    func() error
}

// mostAfter is more than how many builds later anything happens.
const mostAfter = 10

// catchUp does what was to happen after the run of a build.
func (p *player) catchUp(build int) error {
	for i := 0; i < len(p.later); i++ { // what is done may add to the list
		l := p.later[i]
		if l.after > build {
			continue
		}
		p.later = slices.Delete(p.later, i, i+1)
		i--
		if err := l.do(); err != nil {
			return err
		}
	}
	return nil
}

// A step is one verdict on a run of a build.
type step struct {
	*Build
	run   int
	first bool // of the build
	last  bool
}

func (p *player) build(ctx context.Context, at int, b *Build) error {
	for run := range b.Runs {
		s := step{b, run, run == 0, run == b.Runs-1 && b.Symbols == InTime}
		e, err := p.run(ctx, s, b.Symbols != InTime, 0)
		if err != nil {
			return err
		}
		if b.Twice {
			if err := p.again(ctx, s, e); err != nil {
				return err
			}
		}
		if b.Symbols == InTime {
			continue
		}
		named := step{b, run, false, run == b.Runs-1}
		come := func() error {
			_, err := p.run(ctx, named, false, e.run)
			return err
		}
		if b.Symbols == AfterNext {
			p.later = append(p.later, later{at + 1, come})
		} else if err := come(); err != nil {
			return err
		}
	}
	return nil
}

// run records a run and pushes it, or names the run of the store that there is, and judges the verdict.
func (p *player) run(ctx context.Context, s step, nameless bool, there int64) (*evidence, error) {
	e, err := p.record(ctx, s.Build, s.run, nameless)
	if err != nil {
		return nil, err
	}
	for name, stack := range e.stacks {
		if !slices.Contains(p.names[stack], name) {
			p.names[stack] = append(p.names[stack], name)
		}
	}
	if e.run = there; there == 0 {
		e.run, err = p.save(ctx, s, e)
	} else if err = p.store.CreateSymboliseJob(ctx, there); err == nil {
		err = p.works(ctx, e)
	}
	if err != nil {
		return nil, fmt.Errorf("build %s of seed %d: %w", s.Name, p.Seed, err)
	}
	if !nameless {
		p.named[e.run] = e
	}
	verdict, err := p.ask(ctx, e.run)
	if err != nil {
		return nil, err
	}
	return e, p.judge(ctx, s, e, verdict)
}

// again pushes the files of a run that is there once more, which must change nothing.
func (p *player) again(ctx context.Context, s step, e *evidence) error {
	before, err := p.ask(ctx, e.run)
	if err != nil {
		return err
	}
	run, err := p.save(ctx, s, e)
	if err != nil {
		return err
	}
	after, err := p.ask(ctx, run)
	if err != nil {
		return err
	}
	p.tally.Twice++
	if run != e.run || before.Decision.Exit != after.Decision.Exit || before.Decision.Why != after.Decision.Why {
		p.tally.TwiceOther++
		p.bad = true
		p.note("    PUSHED AGAIN: exit %d, %s", after.Decision.Exit, after.Decision.Why)
	}
	return nil
}

// save stores the report as the jobs of a worker would.
func (p *player) save(ctx context.Context, s step, e *evidence) (int64, error) {
	target := leaks.UploadTarget{Project: p.project, Build: s.Name, Sequence: &s.Sequence, Branch: s.Branch,
		Commit: s.Commit, Ancestors: s.Ancestors, Scenario: "soak", Run: fmt.Sprint(s.run + 1)}
	if err := target.Normalize(); err != nil {
		return 0, err
	}
	added, err := p.store.CreateEvidence(ctx, target, store.Evidence{Name: "log.txt",
		SHA256: s.Name + target.Run + p.project, Bytes: 1, Kind: "umdh"})
	if err != nil {
		return 0, err
	}
	return added.RunID, p.works(ctx, e)
}

// works does the jobs that are due: reads, names and analyses.
func (p *player) works(ctx context.Context, e *evidence) error {
	for {
		due, err := p.store.DispatchAllJobs(ctx, time.Hour)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, job := range due {
			if err := p.work(ctx, job.ID, e); err != nil {
				return err
			}
		}
	}
}

func (p *player) work(ctx context.Context, job int64, e *evidence) error {
	lease, err := p.store.ClaimJob(ctx, job, time.Minute)
	if err != nil {
		return err
	}
	switch lease.Kind {
	case store.JobRead:
		c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Shape: capture.ShapeSnapshot,
			Process: capture.Process{Name: "workload.exe", PID: 1, Bits: 64}, Snapshots: make([]capture.Snapshot, 1)}
		return p.store.CreateCaptures(ctx, lease, []store.StoredCapture{{Capture: c, ArtifactKey: "none", Bytes: 1}})
	case store.JobSymbolise:
		naming, err := p.store.BeginSymbolSearch(ctx, lease.RunID)
		if err != nil {
			return err
		}
		return p.store.UpdateNames(ctx, lease, naming, "")
	}
	in, err := store.Read(ctx, p.store, func(v store.View) (store.AnalysisInput, error) {
		return v.FindAnalysisInput(ctx, lease.RunID)
	})
	if err != nil {
		return err
	}
	return p.store.UpdateResult(ctx, lease, store.Result{Report: e.report, ReportKey: "report", Revision: in.Revision})
}

// ask asks for the verdict as push does, which fails on new leaks.
func (p *player) ask(ctx context.Context, run int64) (leaks.RunVerdict, error) {
	question := store.GateQuestion{FailOn: []leaks.FailOn{leaks.FailOnNew}}
	verdict, err := store.Read(ctx, p.store, func(v store.View) (leaks.RunVerdict, error) {
		r, err := v.FindRun(ctx, run)
		if err != nil {
			return leaks.RunVerdict{}, err
		}
		return v.FindVerdict(ctx, &r, question)
	})
	if err != nil || verdict.Decision == nil {
		return verdict, fmt.Errorf("run %d has no verdict: %w", run, err)
	}
	return verdict, p.store.CreateDecision(ctx, run, question, verdict.Decision)
}

// answer is what the team does with a leak that a build failed for.
func (p *player) answer(ctx context.Context, b *Build, l *Leak, signature string) error {
	change := leaks.TriageChange{Actor: "ann", Version: -1}
	who := "ann"
	switch {
	case l.Answer == Accept:
		change.Known = &leaks.Toleration{Reason: "accepted"}
	case l.Answer == Fix && b.Branch == "main" && l.Fixed == 0:
		l.Fixed = b.Number + 2
		if l.Back < 0 {
			l.Back = l.Fixed + 4
		}
		change.Assignee = &who
	case l.Answer == Fix && b.Branch == release && l.Picked == 0:
		l.Picked = b.Number + 2
		change.Assignee = &who
	default:
		change.Assignee = &who
	}
	p.answered[l.Stack] = true
	_, err := p.store.UpdateTriage(ctx, p.project, signature, change)
	return err
}
