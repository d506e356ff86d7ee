package symbols

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A Panel is the state of a run's symbols.
type Panel struct {
	run     int64
	project string
	busy    bool   // jobs of the run are on their way: the page becomes another one
	report  string // tells the report from the next one
	wanted  []moduleView
	staked  []moduleView // something is at stake all the same
	settled []moduleView // nothing is at stake
	frames  int64
	unnamed int64
}

// PanelOf sorts the modules of a run's report by what depends on their symbols. stamp tells the report from the next
// one.
func PanelOf(run store.Run, r *analysis.Report, stamp string) Panel {
	p := Panel{run: run.ID, project: run.Project, busy: run.State() == leaks.RunProcessing, report: stamp}
	modules := slices.Clone(r.Modules)
	slices.SortStableFunc(modules, func(a, b analysis.Module) int {
		return cmp.Or(cmp.Compare(b.UnnamedHeld.Bytes, a.UnnamedHeld.Bytes), cmp.Compare(b.Unnamed, a.Unnamed),
			cmp.Compare(b.Frames, a.Frames))
	})
	for i, module := range modules {
		m := moduleView{Module: module, ordinal: i, bits: r.Process.Bits}
		p.frames += m.Frames
		p.unnamed += m.Unnamed
		switch {
		case m.isWanted():
			p.wanted = append(p.wanted, m)
		case m.atStake():
			p.staked = append(p.staked, m)
		default:
			p.settled = append(p.settled, m)
		}
	}
	return p
}

// summary is the sum of the panel's heading.
func (p Panel) summary() string {
	if p.frames == 0 {
		return quantity.Plural(len(p.settled), "module")
	}
	return fmt.Sprintf("%s of %s resolved", quantity.Count(p.frames-p.unnamed), quantity.Plural(p.frames, "frame"))
}

// settledText heads the modules that need nothing.
func (p Panel) settledText() string {
	if len(p.wanted)+len(p.staked) == 0 {
		return "All " + quantity.Plural(len(p.settled), "module")
	}
	return quantity.Plural(len(p.settled), "module") + " without effect on this report"
}

// kinds sums the states of modules up, "3 private, 12 public".
func kinds(modules []moduleView) string {
	var order []string
	count := map[string]int{}
	for _, m := range modules {
		word := m.state().word
		if count[word]++; count[word] == 1 {
			order = append(order, word)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	for i, word := range order {
		order[i] = quantity.Count(int64(count[word])) + " " + word
	}
	return strings.Join(order, ", ")
}
