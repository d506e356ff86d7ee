package leaks

import (
	"maps"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// headNames are the signatures that a run's report gives leaks of the baseline that have another one there, by the
// latter: of a line of source without a call stack, or of the call stack that the line is part of.
type headNames map[string][]string

func headNamesOf(r *analysis.Report, baseline []BaselineReport) headNames {
	inHead := map[string]bool{}
	for i := range r.Findings {
		inHead[r.Findings[i].Signature] = true
	}
	names, told := headNames{}, map[[2]string]bool{}
	read := func(r *analysis.Report) {
		for i := range r.Findings {
			stack := r.Findings[i].Signature
			for _, j := range r.Findings[i].Joined {
				from, to := j.Signature, stack
				if inHead[from] {
					from, to = to, from
				}
				if !inHead[to] || told[[2]string{from, to}] {
					continue
				}
				told[[2]string{from, to}] = true
				if inHead[from] && names[from] == nil { // the run has both, beside each other
					names[from] = []string{from}
				}
				names[from] = append(names[from], to)
			}
		}
	}
	read(r)
	for i := range baseline {
		read(baseline[i].Report)
	}
	return names
}

// rename gives findings of the baseline the signatures that the run's report has for them. One call stack may be
// several lines there.
func (n headNames) rename(list []compare.Finding) []compare.Finding {
	if len(n) == 0 {
		return list
	}
	var out []compare.Finding
	for i := range list {
		names := n[list[i].Signature]
		if names == nil {
			out = append(out, list[i])
		}
		for _, name := range names {
			f := list[i]
			f.Signature = name
			out = append(out, f)
		}
	}
	return out
}

// add makes findings be found by the signatures that the run's report has for them.
func (n headNames) add(to shownFindings) {
	for _, from := range slices.Sorted(maps.Keys(n)) { // of two for one name the same each time
		for _, name := range n[from] {
			if f := to[from]; f != nil && to[name] == nil {
				to[name] = f
			}
		}
	}
}
