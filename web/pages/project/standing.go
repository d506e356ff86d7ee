package project

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

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
	s := &standing{project: project, gates: map[int64]domain.Gate{}, why: map[int64]string{}}
	var err error
	if s.coverage, err = v.FindCoverage(ctx, project, builds); err != nil {
		return nil, err
	}
	var runs []int64
	for _, scenario := range s.coverage.Scenarios {
		if cell := s.coverage.Newest(scenario); cell != nil {
			s.newest, runs = append(s.newest, cell), append(runs, cell.RunID)
		}
	}
	if s.worst, err = v.ListWorstFindings(ctx, runs); err != nil {
		return nil, err
	}
	for _, cell := range s.newest {
		if f, leaks := s.worst[cell.RunID]; leaks &&
			(s.gravest == nil || domain.CompareUrgency(&f.Figure, &s.gravest.Figure) < 0) {
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
	return s, s.decide(ctx, v, askedSites)
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

// decide asks the gates of the newest build's runs where these have up to so many sites, or reads what they answered
// last. Gates that never answered are asked where the build has up to decidedSites sites.
func (s *standing) decide(ctx context.Context, v store.View, askedSites int64) error {
	var sites int64
	var runs []int64
	for _, cell := range s.cells() {
		sites += cell.Sites
		runs = append(runs, cell.RunID)
	}
	if sites > askedSites {
		told, err := v.ListLastDecisions(ctx, runs)
		s.take(told)
		if err != nil || sites > decidedSites {
			return err
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

// take takes the last answers of gates, by run. The page shows when the oldest of them was given.
func (s *standing) take(told map[int64]store.StoredDecision) {
	for run := range told {
		d := told[run]
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
