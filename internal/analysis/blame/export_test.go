package blame

import (
	"maps"
	"slices"
)

// RuleIDs lists the ids of the rules that have an explanation.
func RuleIDs() []string { return slices.Sorted(maps.Keys(explanations)) }

// CoreRuleIDs lists the ids of the rules in the tables of functions.
func CoreRuleIDs() []string {
	var ids []string
	for _, t := range []*table{allocators, plumbing, bases, tools} {
		for _, m := range t.exact {
			ids = append(ids, m.Rule)
		}
		for _, list := range t.prefixed {
			for _, p := range list {
				ids = append(ids, p.mark.Rule)
			}
		}
	}
	return ids
}
