package leaks_test

import (
	"maps"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

func TestLineSignature(t *testing.T) {
	for name, test := range map[string]struct {
		leaks.LineSignature
		want leaks.LineAction
	}{
		"of one leak":                            {leaks.LineSignature{ID: 1, Root: 1, Into: 2}, leaks.JoinLine},
		"of several":                             {leaks.LineSignature{ID: 1, Root: 1}, leaks.KeepLine},
		"that is the leak":                       {leaks.LineSignature{ID: 1, Root: 1, Into: 1}, leaks.KeepLine},
		"taken back before":                      {leaks.LineSignature{ID: 1, Root: 1, Into: 2, WasPart: true}, leaks.KeepLine},
		"part of it":                             {leaks.LineSignature{ID: 1, Root: 2, Into: 2, IsPart: true, WasPart: true, By: leaks.ActorLine}, leaks.KeepLine},
		"part of another":                        {leaks.LineSignature{ID: 1, Root: 3, Into: 2, IsPart: true, WasPart: true, By: leaks.ActorLine}, leaks.LeaveLine},
		"part of one, and of several in the run": {leaks.LineSignature{ID: 1, Root: 3, IsPart: true, WasPart: true, By: leaks.ActorLine}, leaks.LeaveLine},
		"part of another by hand":                {leaks.LineSignature{ID: 1, Root: 3, Into: 2, IsPart: true, By: "ann"}, leaks.KeepLine},
		"part of another as it moved":            {leaks.LineSignature{ID: 1, Root: 3, Into: 2, IsPart: true}, leaks.KeepLine},
	} {
		if got := test.Action(); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// Other runs of a build tell of a line whose it is, if they list one leak there, with blocks of its size.
func TestLinesOfBuild(t *testing.T) {
	line := func(signature int64, place string, bytes int64) leaks.ListedSite {
		return leaks.ListedSite{Signature: signature, Root: signature, Place: place, IsLine: true, Held: analysis.Amount{Count: 2, Bytes: 2 * bytes}}
	}
	stack := func(root int64, place string, bytes int64) leaks.ListedSite {
		return leaks.ListedSite{Signature: root + 50, Root: root, Place: place, Held: analysis.Amount{Count: 1, Bytes: bytes}}
	}
	for name, test := range map[string]struct {
		sites []leaks.ListedSite
		want  map[int64]int64
	}{
		"one":                        {[]leaks.ListedSite{line(1, "a.cpp:7", 8), stack(2, "a.cpp:7", 8)}, map[int64]int64{1: 2}},
		"with the header":            {[]leaks.ListedSite{line(1, "a.cpp:7", 8), stack(2, "a.cpp:7", 8+52)}, map[int64]int64{1: 2}},
		"another line":               {[]leaks.ListedSite{line(1, "a.cpp:7", 8), stack(2, "a.cpp:8", 8)}, map[int64]int64{}},
		"another size":               {[]leaks.ListedSite{line(1, "a.cpp:7", 8), stack(2, "a.cpp:7", 9)}, map[int64]int64{}},
		"two leaks":                  {[]leaks.ListedSite{line(1, "a.cpp:7", 8), stack(2, "a.cpp:7", 8), stack(3, "a.cpp:7", 9)}, map[int64]int64{1: 0}},
		"two signatures of a leak":   {[]leaks.ListedSite{line(1, "a.cpp:7", 8), stack(2, "a.cpp:7", 8), stack(2, "a.cpp:7", 9)}, map[int64]int64{1: 2}},
		"two lines of a signature":   {[]leaks.ListedSite{line(1, "a.cpp:7", 8), line(1, "a.cpp:9", 8), stack(2, "a.cpp:7", 8), stack(3, "a.cpp:9", 8)}, map[int64]int64{1: 0}},
		"two lines, one with a size": {[]leaks.ListedSite{line(1, "a.cpp:7", 8), line(4, "a.cpp:9", 8), stack(2, "a.cpp:7", 8), stack(2, "a.cpp:9", 9)}, map[int64]int64{1: 2}},
		"no place":                   {[]leaks.ListedSite{line(1, "", 8), stack(2, "", 8)}, map[int64]int64{}},
		"lines alone":                {[]leaks.ListedSite{line(1, "a.cpp:7", 8), line(2, "a.cpp:7", 8)}, map[int64]int64{}},
	} {
		if got := leaks.LinesOfBuild(test.sites); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
