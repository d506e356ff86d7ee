package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
)

// modules lists every module once by path, as the last part that has it shows it, in order of first appearance.
func modules(parts []part, names *capture.Names) []Module {
	list, at := []Module{}, map[string]int{}
	for _, p := range parts {
		for _, m := range p.Modules {
			out := module(m, names.Image(m.ImageID()))
			key := strings.ToLower(m.Path)
			i, ok := at[key]
			if !ok {
				at[key] = len(list)
				list = append(list, out)
				continue
			}
			list[i] = out
		}
	}
	return list
}

func module(m capture.Module, image *capture.Image) Module {
	out := Module{Name: m.FileName(), Path: m.Path, Size: m.Size, PDB: m.PDB, DebugID: m.DebugID, Symbols: m.Symbols}
	if m.Size > 0 {
		out.Base = hexNumber(m.Base)
	}
	if image == nil {
		return out
	}
	out.PDB = cmp.Or(image.PDB, out.PDB)
	out.DebugID = cmp.Or(image.Used, out.DebugID)
	out.Symbols, out.Match, out.Own, out.Tried = image.Symbols, image.Match, image.Own, image.Tried
	out.Unproven = image.Named() > 0 && !image.Proven
	if image.Symbols == capture.SymbolsMismatch {
		out.Symbols, out.Mismatch = capture.SymbolsNone, true
	}
	return out
}

// countFrames counts the return addresses of each module and what depends on those without a name. Where the
// evidence itself brought the names, it says so.
func countFrames(r *Report) {
	byPath, byName := map[string]int{}, map[string]int{}
	for i, m := range r.Modules {
		byPath[strings.ToLower(m.Path)] = i
		byName[strings.ToLower(capture.Module{Path: m.Path}.Name())] = i
	}
	named := make([]bool, len(r.Modules))
	places := map[*Frame]int{} // of a frame's module; −1 for none. Many stacks share a frame
	type returned struct {     // a return address, as any evidence tells it
		module           int
		function, offset string
	}
	seen := map[returned]bool{}
	place := func(f *Frame) int {
		at, ok := byPath[f.module]
		if f.module == "" {
			at, ok = byName[strings.ToLower(f.Module)]
		}
		if !ok {
			return -1
		}
		named[at] = named[at] || f.Function != ""
		key := returned{at, f.Function, f.Offset}
		if f.Inline || seen[key] { // an inlined function has no return address of its own
			return at
		}
		seen[key] = true
		r.Modules[at].Frames++
		if f.Function == "" {
			r.Modules[at].Unnamed++
		}
		return at
	}
	staked := make([]int, len(r.Modules)) // by module: 1 + the last site that counts for it
	for i := range r.Sites {
		site := &r.Sites[i]
		for _, f := range site.Stack {
			at, ok := places[f]
			if !ok {
				at = place(f)
				places[f] = at
			}
			if at < 0 {
				continue
			}
			m := &r.Modules[at]
			guessed := f.Approx && m.Symbols == capture.SymbolsExport // by a nearest export, which symbols may contradict
			if (f.Function == "" || guessed) && staked[at] != i+1 {
				staked[at] = i + 1
				m.Stake.Count += site.Outstanding.Count
				m.Stake.Bytes += site.Outstanding.Bytes
			}
		}
	}
	for i := range r.Modules {
		if m := &r.Modules[i]; m.Symbols == capture.SymbolsNone && named[i] {
			m.Symbols = capture.SymbolsText
		}
	}
}

// symbolWarnings says once how much memory stands under frames without names, with what would name most of it, and
// names the modules whose symbols do not fit.
func symbolWarnings(r *Report) []Warning {
	var unnamed Amount
	for i := range r.Sites {
		if b := r.Sites[i].Blame; b != nil && b.Function == "" {
			unnamed.Count++
			unnamed.Bytes += r.Sites[i].Outstanding.Bytes
		}
	}
	var list []Warning
	if unnamed.Count > 0 {
		list = append(list, Warning{Code: capture.NoSymbols, Count: unnamed.Count, Message: fmt.Sprintf(
			"%s of %s have no function name: the evidence holds addresses, so frames print as module+0xRVA; they hold %s%s",
			Count(unnamed.Count), Plural(int64(len(r.Sites)), "site"), Bytes(unnamed.Bytes), missing(r.Modules))})
	}
	var unproven []string
	for i := range r.Modules {
		m := &r.Modules[i]
		if m.Mismatch {
			list = append(list, Warning{Code: capture.SymbolMismatch, Count: m.Frames, Message: m.Name + ": " + m.Match})
		}
		if m.Unproven {
			unproven = append(unproven, m.Name)
		}
	}
	if len(unproven) > 0 {
		list = append(list, Warning{Code: capture.NoImageInfo, Count: int64(len(unproven)), Message: fmt.Sprintf(
			"the evidence holds no PDB ids: the symbols of %s are matched by name and image size only", strings.Join(unproven, ", "))})
	}
	return list
}

// missing names the symbols that would help most.
func missing(modules []Module) string {
	var lacking []*Module
	for i := range modules {
		if modules[i].Unnamed > 0 {
			lacking = append(lacking, &modules[i])
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	slices.SortStableFunc(lacking, func(a, b *Module) int { return cmp.Compare(b.Stake.Bytes, a.Stake.Bytes) })
	const most = 3
	wanted := make([]string, 0, most)
	for _, m := range lacking[:min(most, len(lacking))] {
		wanted = append(wanted, m.Wanted())
	}
	s := "; wanted: " + strings.Join(wanted, ", ")
	if more := len(lacking) - most; more > 0 {
		s += fmt.Sprintf(" and those of %s more", Plural(int64(more), "module"))
	}
	return s
}

// Wanted names the symbols that a module lacks, so that somebody can look for them.
func (m *Module) Wanted() string {
	if m.DebugID != "" && m.PDB != "" {
		return m.PDB + " " + m.DebugID
	}
	pdb := cmp.Or(m.PDB, capture.Module{Path: m.Name}.Name()+".pdb")
	return fmt.Sprintf("%s of the %s with %s bytes of image size", pdb, m.Name, Count(int64(m.Size)))
}
