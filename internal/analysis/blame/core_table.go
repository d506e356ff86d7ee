package blame

import (
	"slices"
	"strings"
)

// A coreRule gives functions a layer by their normalised names.
type coreRule struct {
	id       string
	layer    Layer
	patterns string // separated by spaces; ~ stands for a space
}

// A table finds the rule of a name: exact names in one look, patterns by the text before their first wildcard.
type table struct {
	exact    map[string]*Mark
	prefixed map[string][]tablePattern
	lengths  []int // of the prefixes, the longest first: the most exact pattern wins
}

type tablePattern struct {
	glob glob
	mark *Mark
}

func newTable(rules []coreRule) *table {
	t := &table{exact: map[string]*Mark{}, prefixed: map[string][]tablePattern{}}
	for _, r := range rules {
		mark := &Mark{r.layer, r.id}
		for _, text := range strings.Fields(r.patterns) {
			g := newGlob(strings.ReplaceAll(text, "~", " "), false)
			literal := g.literal()
			if literal == g.pattern {
				if t.exact[literal] == nil {
					t.exact[literal] = mark
				}
				continue
			}
			t.prefixed[literal] = append(t.prefixed[literal], tablePattern{g, mark})
			if !slices.Contains(t.lengths, len(literal)) {
				t.lengths = append(t.lengths, len(literal))
			}
		}
	}
	slices.SortFunc(t.lengths, func(a, b int) int { return b - a })
	return t
}

// find returns nil where no rule names the function.
func (t *table) find(name string) *Mark {
	if mark := t.exact[name]; mark != nil {
		return mark
	}
	for _, n := range t.lengths {
		if n > len(name) {
			continue
		}
		for _, p := range t.prefixed[name[:n]] {
			if p.glob.match(name) {
				return p.mark
			}
		}
	}
	return nil
}
