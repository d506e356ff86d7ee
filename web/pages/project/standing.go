package project

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	domain "heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// decidedSites is up to how many sites in all of a build's runs its gates are asked while the page waits. With more
// sites, the page shows the last answers of the gates, with their time.
const decidedSites = 2000

// decidedProjects is up to how many projects the board asks the gates of. With more, it shows the last answers, and
// asks those gates only that have never answered.
const decidedProjects = 12

// A standing is what the newest builds say of a project.
type standing struct {
	project   string
	coverage  *store.Coverage
	newest    []*domain.CoverageCell  // of each scenario, by name; what its newest run says
	worst     map[int64]store.Finding // by run, of those cells
	gates     map[int64]domain.Gate   // by run, of the newest build's cells
	why       map[int64]string        // by run: why its gate says so
	decidedAt *time.Time              // when the gates answered; nil for just now
	open      domain.OpenLeakCounts
	gravest   *store.Finding       // of all cells; nil where nothing leaks or grows that is not tolerated
	of        *domain.CoverageCell // whose that is
	spread    store.SeenBuilds     // of it
	commits   templ.SafeURL        // what lies in it; "" where nobody says
}

// standingOf reads how a project stands by its newest builds.
//
// Gates are asked of builds with up to so many sites.
func standingOf(ctx context.Context, v store.View, project string, builds int, askedSites int64) (*standing, error) {
	coverage, err := v.FindCoverage(ctx, project, builds)
	if err != nil {
		return nil, err
	}
	s := newStanding(project, coverage)
	if s.worst, err = v.ListWorstFindings(ctx, runsOf(s.newest)); err != nil {
		return nil, err
	}
	for _, cell := range s.newest {
		if f, leaks := s.worst[cell.RunID]; leaks &&
			(s.gravest == nil || domain.CompareUrgency(&f.Figure, &s.gravest.Figure) < 0) {
			s.gravest, s.of = &f, cell
		}
	}
	for _, cell := range s.newest {
		f, leaks := s.worst[cell.RunID]
		if leaks && f.Signature == s.gravest.Signature && domain.TellsMore(&f.Figure, &s.gravest.Figure) {
			s.gravest, s.of = &f, cell
		}
	}
	if s.gravest != nil {
		worst, err := v.FindSignature(ctx, project, s.gravest.Signature)
		if err != nil {
			return nil, err
		}
		s.spread = worst.SeenBuilds
		links, err := v.FindSourceLinks(ctx, project)
		if err != nil {
			return nil, err
		}
		if s.commits, err = ui.CommitsBetween(ctx, v, links, project, s.spread.LastClean, s.spread.FirstBad); err != nil {
			return nil, err
		}
	}
	if s.open, err = v.CountOpenLeaks(ctx, project); err != nil {
		return nil, err
	}
	var told map[int64]store.StoredDecision
	if s.sites() > askedSites {
		if told, err = v.ListLastDecisions(ctx, runsOf(s.cells())); err != nil {
			return nil, err
		}
	}
	return s, s.decide(ctx, v, askedSites, told)
}

// newStanding is the standing of a project with a coverage, before its leaks are read and its gates are asked.
func newStanding(project string, coverage *store.Coverage) *standing {
	s := &standing{project: project, coverage: coverage, gates: map[int64]domain.Gate{}, why: map[int64]string{}}
	for _, scenario := range coverage.Scenarios {
		if cell := coverage.Newest(scenario); cell != nil {
			s.newest = append(s.newest, cell)
		}
	}
	return s
}

// runsOf are the runs that speak for cells.
func runsOf(cells []*domain.CoverageCell) []int64 {
	runs := make([]int64, len(cells))
	for i, cell := range cells {
		runs[i] = cell.RunID
	}
	return runs
}

// boardOf reads how projects stand, with what a board shows of it: gravest, spread and commits are left out. It takes
// as many statements for a hundred projects as for one, but for gates that are asked.
func boardOf(ctx context.Context, v store.View, projects []string) ([]*standing, error) {
	coverages, err := v.ListCoverages(ctx, projects, boardBuilds)
	if err != nil {
		return nil, err
	}
	asked := askedSites(len(projects))
	list := make([]*standing, len(projects))
	var runs, undecided []int64
	for i, project := range projects {
		list[i] = newStanding(project, coverages[project])
		runs = append(runs, runsOf(list[i].newest)...)
		if list[i].sites() > asked {
			undecided = append(undecided, runsOf(list[i].cells())...)
		}
	}
	worst, err := v.ListWorstFindings(ctx, runs)
	if err != nil {
		return nil, err
	}
	told, err := v.ListLastDecisions(ctx, undecided)
	if err != nil {
		return nil, err
	}
	open, err := v.ListOpenLeakCounts(ctx, projects)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		s.worst, s.open = worst, open[s.project]
		if err := s.decide(ctx, v, asked, told); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// build is the newest build with a result; "" for none.
func (s *standing) build() string {
	if n := len(s.coverage.Builds); n > 0 {
		return s.coverage.Builds[n-1].Name
	}
	return ""
}

// cells are those of the newest build.
func (s *standing) cells() []*domain.CoverageCell {
	var list []*domain.CoverageCell
	for _, cell := range s.newest {
		if cell.Build == s.build() {
			list = append(list, cell)
		}
	}
	return list
}

// sites is how many sites the runs of the newest build's cells have.
func (s *standing) sites() (sites int64) {
	for _, cell := range s.cells() {
		sites += cell.Sites
	}
	return sites
}

// decide asks the gates of the newest build's runs where these have up to so many sites, or takes what they answered
// last, which told has by run. Gates that never answered are asked where the build has up to decidedSites sites.
func (s *standing) decide(ctx context.Context, v store.View, askedSites int64,
	told map[int64]store.StoredDecision) error {
	sites, runs := s.sites(), runsOf(s.cells())
	if sites > askedSites {
		s.take(runs, told)
		if sites > decidedSites {
			return nil
		}
		runs = slices.DeleteFunc(runs, func(run int64) bool { return s.gates[run] != "" })
	}
	for _, id := range runs {
		run, err := v.FindRun(ctx, id)
		if err != nil {
			return err
		}
		verdict, err := v.FindVerdict(ctx, &run, store.GateQuestion{})
		if err != nil {
			return err
		}
		s.gates[id], s.why[id] = verdict.Gate, verdict.Why
	}
	return nil
}

// take takes the last answers of the gates of runs. The page shows when the oldest of them was given.
func (s *standing) take(runs []int64, told map[int64]store.StoredDecision) {
	for _, run := range runs {
		d, answered := told[run]
		if !answered {
			continue
		}
		s.gates[run], s.why[run] = d.Gate, d.Why
		if s.decidedAt == nil || d.At.Before(*s.decidedAt) {
			s.decidedAt = &d.At
		}
	}
}

// gate is what the gates of the newest build say together; "" where none was asked.
func (s *standing) gate() domain.Gate {
	var list []domain.Gate
	for _, g := range s.gates {
		list = append(list, g)
	}
	return domain.GravestGate(list...)
}

// reasons are why the gravest of those gates say so, with the scenarios of each where the build has several.
func (s *standing) reasons() []string {
	var whys []string
	scenarios, cells := map[string][]string{}, s.cells()
	for _, cell := range cells {
		if why := s.why[cell.RunID]; why != "" && s.gates[cell.RunID] == s.gate() {
			if scenarios[why] == nil {
				whys = append(whys, why)
			}
			scenarios[why] = append(scenarios[why], cell.Scenario)
		}
	}
	for i, why := range whys {
		of := ""
		if len(cells) > 1 {
			of = " of " + strings.Join(scenarios[why], ", ")
		}
		whys[i] = "gate" + of + ": " + why
	}
	return whys
}

// worstWord heads the gravest finding: one that no run found leaking is no leak yet.
func worstWord(f *store.Finding) string {
	if f.Class.IsLeak() || f.Class == analysis.ClassGrowingBlock {
		return "Worst leak:"
	}
	return "Fastest growing:"
}

// A gateWord is how a page shows the answer of a gate.
type gateWord struct{ word, class, shape string }

var gateWords = map[domain.Gate]gateWord{
	domain.GatePassed:       {"Gate passes", "no-leak", "M2 6.5 5 9.5 10 3"},
	domain.GateFailed:       {"Gate fails", "leak", "M3 3l6 6M9 3l-6 6"},
	domain.GateInconclusive: {"Gate inconclusive", "inconclusive", "M2 6h1.5 M5.5 6h1.5 M9 6h1.5"},
	domain.GatePending:      {"Gate pending", "processing", "M6 1.5a4.5 4.5 0 1 0 4.5 4.5 M6 3.5v2.5l2 1"},
	domain.GateError:        {"Gate error", "failed", "M3 3l6 6 M9 3l-6 6"},
	"":                      {"No gate yet", "empty", "M3 6h6"},
}
