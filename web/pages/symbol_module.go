package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A symbolState is what the names of a module's frames rest on: a glyph and a word, so that it does not rest on
// colour alone.
type symbolState struct {
	word  string
	title string
	shape string // outlined
	solid string // filled
	// lacking says that symbols would tell more about the code than what there is.
	lacking bool
}

const ring = "M6 1.5a4.5 4.5 0 1 0 .01 0Z"

// symbolStates by the kind of symbols. The fuller the disc, the more they tell.
var symbolStates = map[capture.SymbolKind]symbolState{
	capture.SymbolsPrivate:  {"private", "a PDB with files and lines", ring, ring, false},
	capture.SymbolsPublic:   {"public", "a PDB with names, without files and lines", ring, "M6 1.5a4.5 4.5 0 0 0 0 9Z", false},
	capture.SymbolsExport:   {"export", "only the functions that the image exports: a name may be that of the nearest one", ring + " M3.6 6.3c.8-1.3 1.6-1.1 2.4-.3s1.6 1 2.4-.3", "", true},
	capture.SymbolsText:     {"text", "the names came with the evidence", "M2 3h8 M2 6h8 M2 9h5", "", false},
	capture.SymbolsNone:     {"none", "frames print as module+0xRVA", "M6 1.5a4.5 4.5 0 0 1 2.3.6 M10.1 4.2a4.5 4.5 0 0 1 0 3.6 M8.3 9.9a4.5 4.5 0 0 1-4.6 0 M1.9 7.8a4.5 4.5 0 0 1 0-3.6 M3.7 2.1A4.5 4.5 0 0 1 6 1.5", "", true},
	capture.SymbolsMismatch: {"mismatch", "symbols of that name are there, and none of them belongs to this module", "M2 4.5h8 M2 7.5h8 M8.3 1.8 3.7 10.2", "", true},
}

// stateOfSymbols returns how a kind of symbols is shown; a reader's own word stays one.
func stateOfSymbols(kind capture.SymbolKind) symbolState {
	if s, known := symbolStates[cmp.Or(kind, capture.SymbolsNone)]; known {
		return s
	}
	return symbolState{word: string(kind), title: "as the evidence says", shape: ring}
}

// A moduleView is a module as the symbol panel shows it.
type moduleView struct {
	analysis.Module
	ordinal int // in the panel
	bits    int // of the process
}

func (m moduleView) kind() capture.SymbolKind {
	if m.Mismatch {
		return capture.SymbolsMismatch
	}
	return cmp.Or(m.Symbols, capture.SymbolsNone)
}

func (m moduleView) state() symbolState { return stateOfSymbols(m.kind()) }

// isWanted reports whether somebody should look for the module's symbols: memory is held by code that has no name.
func (m moduleView) isWanted() bool { return m.state().lacking && m.atStake() }

func (m moduleView) atStake() bool { return m.Stake.Bytes > 0 || m.Stake.Count > 0 || m.Unnamed > 0 }

// stakeOf says where what is at stake is held.
func (m moduleView) stakeOf() string {
	if m.Symbols == capture.SymbolsExport {
		return " at sites with a frame in this module that has no name, or only that of the nearest export"
	}
	return " at sites with an unnamed frame in this module"
}

// named says how many of the module's frames have a function's name; "" where no stack goes through it.
func (m moduleView) named() string {
	if m.Frames == 0 {
		return "in no stack"
	}
	return fmt.Sprintf("%s of %s named", analysis.Count(m.Frames-m.Unnamed), counted(m.Frames, "frame"))
}

func (m moduleView) want() symbolWant {
	return wantOf(m.Name, m.PDB, m.DebugID, int64(m.Size), m.bits)
}

// A symbolPanel is the state of a run's symbols.
type symbolPanel struct {
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

// symbolPanel sorts a run's modules by what depends on their symbols.
func (v runView) symbolPanel() symbolPanel {
	p := symbolPanel{run: v.run.ID, project: v.run.Project, busy: v.run.State() == "processing", report: reportStamp(v.run)}
	modules := slices.Clone(v.report.Modules)
	slices.SortStableFunc(modules, func(a, b analysis.Module) int {
		return cmp.Or(cmp.Compare(b.Stake.Bytes, a.Stake.Bytes), cmp.Compare(b.Unnamed, a.Unnamed), cmp.Compare(b.Frames, a.Frames))
	})
	for i, module := range modules {
		m := moduleView{Module: module, ordinal: i, bits: v.report.Process.Bits}
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
func (p symbolPanel) summary() string {
	if p.frames == 0 {
		return counted(len(p.settled), "module")
	}
	return fmt.Sprintf("%s of %s named", analysis.Count(p.frames-p.unnamed), counted(p.frames, "frame"))
}

// settledText heads the modules that need nothing.
func (p symbolPanel) settledText() string {
	if len(p.wanted)+len(p.staked) == 0 {
		return "All " + counted(len(p.settled), "module")
	}
	return counted(len(p.settled), "module") + " with nothing at stake"
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
		order[i] = analysis.Count(int64(count[word])) + " " + word
	}
	return strings.Join(order, ", ")
}
