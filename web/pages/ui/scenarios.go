package ui

import (
	"slices"

	"heapdrift/internal/store"
)

// ScenariosOf returns the scenarios of the builds' runs, each once, in the order of the alphabet.
func ScenariosOf(builds []store.Build) []string {
	var list []string
	for _, b := range builds {
		for _, r := range b.Runs {
			if !slices.Contains(list, r.Scenario) {
				list = append(list, r.Scenario)
			}
		}
	}
	slices.Sort(list)
	return list
}
