package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest"
)

// What a shell lists is put in the order of the numbers; the order that somebody chose stays.
func TestInOrder(t *testing.T) {
	for given, want := range map[string]string{
		"a.1.heap a.10.heap a.2.heap": "a.1.heap a.2.heap a.10.heap",
		"a.10.heap a.1.heap a.2.heap": "a.10.heap a.1.heap a.2.heap",
		"b.heap a.heap":               "b.heap a.heap",
		"a.heap b.heap c.heap":        "a.heap b.heap c.heap",
		"a.heap":                      "a.heap",
		"":                            "",
	} {
		names := strings.Fields(given)
		before := slices.Clone(names)
		if got := strings.Join(ingest.InOrder(names), " "); got != want || !slices.Equal(names, before) {
			t.Errorf("%s gives %s, want %s", given, got, want)
		}
	}
}
