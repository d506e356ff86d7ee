package leaks

import (
	"fmt"
	"slices"
)

// LostTogether is a cause of several leaks of a run that are lost together, such as the parts of one object. Each leak
// keeps its own identity and history; sentences and lists count causes.
type LostTogether struct {
	Title      string   `json:"title"`      // "lost objects of app!Session::Open"
	Ratio      string   `json:"ratio"`      // of the numbers of blocks, in the order of Signatures: "1 : 5 : 2"
	Signatures []string `json:"signatures"` // of the leaks, the gravest first
}

// countCauses counts the causes of leaks, and returns the one that all of them have; nil where they have several or
// share none.
func countCauses(causes []LostTogether, signatures []string) (n int, only *LostTogether) {
	counted := map[*LostTogether]bool{}
	for _, s := range signatures {
		at := slices.IndexFunc(causes, func(c LostTogether) bool { return slices.Contains(c.Signatures, s) })
		if at < 0 {
			n++
			continue
		}
		if only = &causes[at]; !counted[only] {
			counted[only] = true
			n++
		}
	}
	if n != 1 || len(signatures) < 2 {
		only = nil
	}
	return n, only
}

// reasonOf counts leaks by cause: "1 new leak in 3 stacks, lost objects of app!Session::Open".
func reasonOf(causes []LostTogether, signatures []string, word FailOn) string {
	n, only := countCauses(causes, signatures)
	text := reason(n, word)
	if n < len(signatures) {
		text += fmt.Sprintf(" in %d stacks", len(signatures))
	}
	if only != nil {
		text += ", " + only.Title
	}
	return text
}

// among are the causes of those leaks that are listed, without others; a cause of one of them is none.
func among(causes []LostTogether, listed func(signature string) bool) (list []LostTogether) {
	for _, c := range causes {
		c.Signatures = slices.DeleteFunc(slices.Clone(c.Signatures), func(s string) bool { return !listed(s) })
		slices.Sort(c.Signatures)
		if c.Signatures = slices.Compact(c.Signatures); len(c.Signatures) > 1 {
			list = append(list, c)
		}
	}
	return list
}
