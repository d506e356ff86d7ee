package analysis

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
)

// orderedSites are sites of equal figures: a letter of the signature, the number of a stack, a heap and a place each.
func orderedSites(sites ...string) (list []*judgedSite) {
	c := &capture.Capture{}
	keys := newStackKeys(c, newStackNumbers(), nil)
	for i, text := range sites {
		s := &judgedSite{mergedSite: &mergedSite{place: int32(i), stack: capture.NoStack,
			traces: []uint64{uint64(text[1])}}, frames: &frames{keys: keys}, signature: text[:1], heapHandle: text[2:3]}
		s.key.stack = stackNumber(text[1])
		list = append(list, s)
	}
	return list
}

func orderOf(list []*judgedSite) (texts []string) {
	for _, s := range list {
		texts = append(texts, fmt.Sprintf("%s%c%s", s.signature, rune(s.key.stack), s.heapHandle))
	}
	return texts
}

// Sites of one signature are ordered by the keys of their stacks and then by heap, in whatever order they come: sites
// of one stack among others stand together.
func TestOrderOfEqualSites(t *testing.T) {
	want := orderOf(func() []*judgedSite {
		list := orderedSites("a1x", "a2y", "a1z", "b1y", "b1z", "c3x")
		sortByStack(list)
		return list
	}())
	if stacks := want[0][1:2] + want[1][1:2] + want[2][1:2]; stacks != "112" && stacks != "211" {
		t.Errorf("sites of one stack stand apart: %q", want)
	}
	if !slices.Equal(want[3:], []string{"b1y", "b1z", "c3x"}) {
		t.Errorf("%q", want)
	}
	for _, order := range [][]string{
		{"c3x", "b1z", "b1y", "a1z", "a2y", "a1x"}, {"a2y", "a1z", "a1x", "b1z", "c3x", "b1y"},
		{"a1z", "a2y", "a1x", "c3x", "b1y", "b1z"}, {"a1x", "a1z", "a2y", "b1y", "b1z", "c3x"},
	} {
		list := orderedSites(order...)
		if sortByStack(list); !slices.Equal(orderOf(list), want) {
			t.Errorf("%q are ordered %q, want %q", order, orderOf(list), want)
		}
	}
}

// Sites of one stack need no key.
func TestKeysOnlyWhereNeeded(t *testing.T) {
	list := orderedSites("a1x", "a1y", "b2x", "b3y")
	sortByStack(list)
	for _, s := range list {
		if made := s.stackKey != (Key{}); made != (s.signature == "b") {
			t.Errorf("%s: key %s", s.signature, s.stackKey)
		}
	}
}
