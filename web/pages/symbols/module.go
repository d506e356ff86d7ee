package symbols

import (
	"cmp"
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// A symbolState is what the names of a module's frames rest on: a glyph and a word, so that it does not rest on
// colour alone.
type symbolState struct {
	word  string
	title string
	shape string // outlined
	solid string // filled
	// lacking says that better symbols would tell more about the code than the present ones.
	lacking bool
}

const ring = "M6 1.5a4.5 4.5 0 1 0 .01 0Z"

// symbolStates by the kind of symbols. The fuller the disc, the more they tell.
var symbolStates = map[capture.SymbolKind]symbolState{
	capture.SymbolsPrivate: {"private", "PDB with files and lines", ring, ring, false},
	capture.SymbolsPublic: {"public", "PDB with function names only", ring,
		"M6 1.5a4.5 4.5 0 0 0 0 9Z", false},
	capture.SymbolsExport: {"export", "Export table only: the name may be the nearest exported function’s.",
		ring + " M3.6 6.3c.8-1.3 1.6-1.1 2.4-.3s1.6 1 2.4-.3", "", true},
	capture.SymbolsText: {"text", "names from the evidence", "M2 3h8 M2 6h8 M2 9h5", "", false},
	capture.SymbolsNone: {"none", "No symbols: frames print as module+0xRVA.",
		"M6 1.5a4.5 4.5 0 0 1 2.3.6 M10.1 4.2a4.5 4.5 0 0 1 0 3.6 M8.3 9.9a4.5 4.5 0 0 1-4.6 0 M1.9 7.8a4.5 4.5 0 0 1 0-3.6 M3.7 2.1A4.5 4.5 0 0 1 6 1.5", "", true},
	capture.SymbolsMismatch: {"mismatch", "The symbols found belong to another build of this module.",
		"M2 4.5h8 M2 7.5h8 M8.3 1.8 3.7 10.2", "", true},
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

func (m moduleView) atStake() bool {
	return m.UnnamedHeld.Bytes > 0 || m.UnnamedHeld.Count > 0 || m.Unnamed > 0
}

// stakeOf says where what is at stake is held.
func (m moduleView) stakeOf() string {
	if m.Symbols == capture.SymbolsExport {
		return " at sites with a frame of this module without symbols or with an export only"
	}
	return " at sites with an unresolved frame of this module"
}

// named says how many of the module's frames have a function's name; "" where no stack goes through it.
func (m moduleView) named() string {
	if m.Frames == 0 {
		return "on no call stack"
	}
	return fmt.Sprintf("%s of %s resolved", quantity.Count(m.Frames-m.Unnamed), quantity.Plural(m.Frames, "frame"))
}

func (m moduleView) want() symbolWant {
	return wantOf(m.Name, m.PDB, m.DebugID, int64(m.Size), m.bits)
}
