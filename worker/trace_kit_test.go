package worker_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store/storetest"
)

// figures are the numbers of a report's sites, without instants of the series and file names.
func figures(r *analysis.Report) string {
	text := asJSON(r.Totals, r.Process)
	for i := range r.Sites {
		s := &r.Sites[i]
		text += "\n" + asJSON(s.Signature, s.Heap, s.Amounts)
	}
	return text
}

// difference is the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, %d lines", len(a), len(b))
}

func asJSON(v ...any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// evidenceNames are the files that a report names, in its order.
func evidenceNames(r *analysis.Report) (names []string) {
	for _, e := range r.Evidence {
		names = append(names, fmt.Sprintf("%s used=%v", e.File, e.Used))
	}
	return names
}

// owners are the files of a run, each with the file that has its captures, in the order of their names.
func (p *pipeline) owners(run int64) []string {
	p.Helper()
	list, err := storetest.Now(p, p.Store).ListEvidence(p.Context(), run)
	if err != nil {
		p.Fatal(err)
	}
	name := map[int64]string{}
	for _, e := range list {
		name[e.ID] = e.Name
	}
	var owners []string
	for _, e := range list {
		text := e.Name + " " + e.State
		if e.ReadWith != nil {
			text += " with " + name[*e.ReadWith]
		}
		owners = append(owners, text)
	}
	slices.Sort(owners)
	return owners
}

// captures counts the captures of a run.
func (p *pipeline) captures(run int64) int {
	p.Helper()
	in, err := storetest.Now(p, p.Store).FindAnalysisInput(p.Context(), run)
	if err != nil {
		p.Fatal(err)
	}
	return len(in.Captures)
}
