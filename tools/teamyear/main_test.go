package main

import (
	"slices"
	"testing"
)

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string][]uint64{
		"1": {1}, "1,5": {1, 5}, "701-703": {701, 702, 703}, "1,7-8,3": {1, 7, 8, 3}, "4-4": {4},
		"": nil, "a": nil, "1-": nil, "-3": nil, "3-2": nil, "1,,2": nil,
	} {
		got, err := parseSeeds(text)
		if !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}
