package leaks_test

import (
	"maps"
	"testing"

	"heapdrift/internal/leaks"
)

// The namesake has the id 1; the other signatures have 2, 3 and so on.
func TestNamesake(t *testing.T) {
	const mine = 1
	type outlinedList = []leaks.OutlinedSignature
	for name, test := range map[string]struct {
		root     int64 // of the namesake; 0 for itself
		joined   bool
		others   outlinedList
		mistaken bool
		other    int64 // that it is to become part of; 0 for nothing
	}{
		"of nothing":                  {0, false, nil, false, 0},
		"of one":                      {0, false, outlinedList{{ID: 2, RootID: 2}}, false, 2},
		"of a leak and its part":      {0, false, outlinedList{{ID: 2, RootID: 2}, {ID: 3, RootID: 2}}, false, 2},
		"of parts of one leak":        {0, false, outlinedList{{ID: 3, RootID: 9}, {ID: 4, RootID: 9}}, false, 3},
		"of two leaks":                {0, false, outlinedList{{ID: 2, RootID: 2}, {ID: 3, RootID: 3}}, false, 0},
		"of its own part":             {0, false, outlinedList{{ID: 2, RootID: mine}}, false, 0},
		"of its own part and another": {0, false, outlinedList{{ID: 2, RootID: mine}, {ID: 3, RootID: 3}}, false, 0},
		"beside it in a run":          {0, false, outlinedList{{ID: 2, RootID: 2, Beside: true}}, false, 0},
		"beside its part in a run": {0, false,
			outlinedList{{ID: 2, RootID: 2}, {ID: 3, RootID: 2, Beside: true}}, false, 0},
		"taken out by a person": {0, false, outlinedList{{ID: 2, RootID: 2, Left: true}}, false, 0},
		"of which a person took one part out": {0, false,
			outlinedList{{ID: 2, RootID: 2}, {ID: 3, RootID: 2, Left: true}}, false, 0},
		"joined, and of nothing any more":       {2, true, nil, false, 0},
		"joined":                                {2, true, outlinedList{{ID: 2, RootID: 2}}, false, 0},
		"joined, and of a second leak":          {2, true, outlinedList{{ID: 2, RootID: 2}, {ID: 3, RootID: 3}}, true, 0},
		"joined, and of another leak alone":     {2, true, outlinedList{{ID: 3, RootID: 3}}, true, 0},
		"joined, and beside it by now":          {2, true, outlinedList{{ID: 2, RootID: 2, Beside: true}}, true, 0},
		"joined, though a person took it out":   {2, true, outlinedList{{ID: 2, RootID: 2, Left: true}}, false, 0},
		"part of it by hand, which is no error": {2, false, outlinedList{{ID: 2, RootID: 2}}, false, 0},
	} {
		n := leaks.Namesake{ID: mine, RootID: mine, Joined: test.joined, Others: test.others}
		if test.root != 0 {
			n.RootID = test.root
		}
		if got := n.IsMistaken(); got != test.mistaken {
			t.Errorf("%s: mistaken %v", name, got)
		}
		other := int64(0)
		if o := n.Other(); o != nil {
			other = o.ID
		}
		if other != test.other {
			t.Errorf("%s: becomes part of %d, want %d", name, other, test.other)
		}
	}
}

func TestFoldOfALeaving(t *testing.T) {
	whole, aPart := leaks.ReplacementCandidate{ID: 2, IsRoot: true}, leaks.ReplacementCandidate{ID: 2}
	for name, test := range map[string]struct {
		leaving leaks.ReplacedSignature
		leaves  bool // the candidate leaves as well
		want    leaks.ReplacementAction
	}{
		"nothing is said of it": {leaks.ReplacedSignature{Plain: true, Candidates: []leaks.ReplacementCandidate{whole}},
			false, leaks.MergeAlone},
		"the candidate leaves as well": {leaks.ReplacedSignature{Plain: true, Candidates: []leaks.ReplacementCandidate{whole}},
			true, leaks.MergeWithParts},
		"the candidate is part already": {leaks.ReplacedSignature{Plain: true, Candidates: []leaks.ReplacementCandidate{aPart}},
			false, leaks.MergeWithParts},
		"something is said of it": {leaks.ReplacedSignature{Candidates: []leaks.ReplacementCandidate{whole}},
			false, leaks.MergeWithParts},
		"it is part of it": {leaks.ReplacedSignature{PartOfID: 2, Candidates: []leaks.ReplacementCandidate{whole}},
			false, leaks.KeepAsIs},
		"plain, and part of it": {leaks.ReplacedSignature{PartOfID: 2, Plain: true,
			Candidates: []leaks.ReplacementCandidate{aPart}}, true, leaks.KeepAsIs},
		"it is part of another": {leaks.ReplacedSignature{PartOfID: 3, Plain: true,
			Candidates: []leaks.ReplacementCandidate{whole, {ID: 3, IsRoot: true}}}, false, leaks.MergeWithParts},
		"most of it went to the first of": {leaks.ReplacedSignature{Plain: true,
			Candidates: []leaks.ReplacementCandidate{whole, {ID: 3}}}, false, leaks.MergeAlone},
	} {
		got := test.leaving.Action(func(id int64) bool { return test.leaves && id == 2 })
		if got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestMoves(t *testing.T) {
	type site = leaks.SiteSignature[string]
	for name, test := range map[string]struct {
		before, after []site
		want          map[leaks.SignatureMove]int64
	}{
		"nothing":              {nil, nil, nil},
		"all stay":             {[]site{{"x", 1, 9}}, []site{{"x", 1, 9}}, nil},
		"one moves":            {[]site{{"x", 1, 9}}, []site{{"x", 2, 0}}, map[leaks.SignatureMove]int64{{1, 2}: 10}},
		"one that held none":   {[]site{{"x", 1, 0}}, []site{{"x", 2, 0}}, map[leaks.SignatureMove]int64{{1, 2}: 1}},
		"one that held less":   {[]site{{"x", 1, -9}}, []site{{"x", 2, 0}}, map[leaks.SignatureMove]int64{{1, 2}: 1}},
		"one comes, one goes":  {[]site{{"x", 1, 9}}, []site{{"y", 2, 0}}, nil},
		"one has no signature": {[]site{{"x", 1, 9}}, []site{{"x", 0, 0}}, nil},
		"in two heaps": {[]site{{"x", 1, 9}, {"x", 1, 5}}, []site{{"x", 2, 0}, {"x", 2, 0}},
			map[leaks.SignatureMove]int64{{1, 2}: 16}},
		"two to one": {[]site{{"x", 1, 9}, {"y", 3, 4}}, []site{{"x", 2, 0}, {"y", 2, 0}},
			map[leaks.SignatureMove]int64{{1, 2}: 10, {3, 2}: 5}},
		"one to two": {[]site{{"x", 1, 9}, {"y", 1, 4}}, []site{{"x", 2, 0}, {"y", 3, 0}},
			map[leaks.SignatureMove]int64{{1, 2}: 10, {1, 3}: 5}},
		"a part of it": {[]site{{"x", 1, 9}, {"y", 1, 4}}, []site{{"x", 2, 0}, {"y", 1, 0}},
			map[leaks.SignatureMove]int64{{1, 2}: 10}},
	} {
		if got := leaks.WeighMoves(test.before, test.after); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
