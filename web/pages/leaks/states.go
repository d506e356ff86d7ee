package leaks

import (
	"strings"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// cleanElsewhere names the scenarios in which a leak is clean while it is open in others; "" for none.
func cleanElsewhere(states []leaks.ScenarioState) string {
	var clean []string
	open := false
	for i := range states {
		if states[i].IsOpen() {
			open = true
		} else {
			clean = append(clean, states[i].Scenario)
		}
	}
	if !open || clean == nil {
		return ""
	}
	return "clean in " + strings.Join(clean, ", ")
}

// measuredIn says where the figures of a row were measured.
func measuredIn(s store.Signature) string {
	if s.Measured == "" {
		return "no run shows it any more"
	}
	return "measured in " + s.Measured + ", build " + s.LastSeen
}
