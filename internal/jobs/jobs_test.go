package jobs_test

import (
	"math"
	"testing"

	"heapdrift/internal/jobs"
)

// The shares of each way are all of a job, and a way has a stage once.
func TestWays(t *testing.T) {
	for _, kind := range jobs.Kinds {
		if len(kind.Ways) == 0 {
			t.Errorf("%s has no stages", kind.Name)
		}
		for _, way := range kind.Ways {
			at := 0
			seen := map[string]bool{}
			for _, s := range way {
				percent, name := way.Begin(s.Name)
				if percent != at || name != s.Name || seen[s.Name] || !kind.Has(s.Name) {
					t.Errorf("%s: %q begins at %d %%, not %d", kind.Name, name, percent, at)
				}
				seen[s.Name] = true
				at += s.Share
			}
			if at != 100 {
				t.Errorf("%s: the shares add up to %d %%", kind.Name, at)
			}
		}
	}
}

// Each kind but the last has one that follows it.
func TestOrder(t *testing.T) {
	for i, kind := range jobs.Kinds {
		next := ""
		if i+1 < len(jobs.Kinds) {
			next = jobs.Kinds[i+1].Name
		}
		if kind.Next != next || jobs.KindOf(kind.Name).Next != next {
			t.Errorf("%s is followed by %q", kind.Name, kind.Next)
		}
	}
	if unknown := jobs.KindOf("of a later version"); unknown.Next != "" || unknown.Has(jobs.Reading) {
		t.Errorf("%+v of a kind that nobody knows", unknown)
	}
}

func TestAt(t *testing.T) {
	for _, test := range []struct {
		way         jobs.StageList
		stage       string
		done, total int64
		want        int
	}{
		{jobs.SnapshotStages, jobs.Reading, 0, 10, 0},
		{jobs.SnapshotStages, jobs.Reading, 5, 10, 45},
		{jobs.SnapshotStages, jobs.Reading, 10, 10, 90},
		{jobs.SnapshotStages, jobs.Reading, 11, 10, 90}, // a reader that has counted twice
		{jobs.SnapshotStages, jobs.Reading, -1, 10, 0},
		{jobs.SnapshotStages, jobs.Reading, 0, 0, 0}, // an empty file
		{jobs.SnapshotStages, jobs.Reading, math.MaxInt64 / 100, math.MaxInt64 / 100, 90},
		{jobs.TraceStages, jobs.StoringCaptures, 1, 2, 95},
		{jobs.NameStages, jobs.NamingFrames, 1, 3, 50},
		{jobs.ReportStages, jobs.StoringSites, 0, 1, 85},
		{jobs.ReportStages, jobs.Reading, 1, 2, 0}, // is none of its stages
	} {
		if percent, name := test.way.At(test.stage, test.done, test.total); percent != test.want || name != test.stage {
			t.Errorf("%d of %d of %q is %d %%, not %d", test.done, test.total, name, percent, test.want)
		}
	}
}

// A kind has the stages of its ways, and no others.
func TestHas(t *testing.T) {
	for _, kind := range jobs.Kinds {
		for _, other := range jobs.Kinds {
			for _, way := range other.Ways {
				for _, s := range way {
					want := false
					for _, own := range kind.Ways {
						for _, one := range own {
							want = want || one.Name == s.Name
						}
					}
					if kind.Has(s.Name) != want {
						t.Errorf("%s has %q: %t", kind.Name, s.Name, !want)
					}
				}
			}
		}
		if kind.Has("") || kind.Has("of a later version") {
			t.Errorf("%s has a stage that nobody knows", kind.Name)
		}
	}
}
