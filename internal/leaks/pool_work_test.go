package leaks

import (
	"fmt"
	"math"
	"testing"

	"heapdrift/internal/analysis"
)

// workPool are runs of one build with an amount of work and so many lost blocks each; −1 for a run that does not show the leak.
func workPool(runs ...[2]float64) *Pool {
	p := &Pool{}
	for i, r := range runs {
		p.Runs = append(p.Runs, PoolRun{RunID: int64(i), Build: "1", Rank: LineRank(1),
			ExitWork: &analysis.ExitWork{Unit: "document", Count: r[0], Lists: 1}, ExitTools: []string{"vld"}})
		var rating *RunRating
		if r[1] >= 0 {
			rating = &RunRating{Rating: Rating{Class: analysis.ClassLeftAtExit, Certain: true}, Lost: int64(r[1])}
		}
		p.RatingByRun = append(p.RatingByRun, rating)
	}
	return p
}

// Blocks in proportion to the work are a leak, as many blocks whatever the work came once, and anything between is left
// as it was.
func TestWorkTells(t *testing.T) {
	for name, test := range map[string]struct {
		runs [][2]float64
		want string // of the last run: what was found
	}{
		"in proportion":                      {[][2]float64{{100, 100}, {200, 200}, {400, 400}}, "grows"},
		"two amounts of work":                {[][2]float64{{100, 15}, {100, 15}, {200, 30}}, "grows"},
		"which may be chance":                {[][2]float64{{100, 10}, {100, 10}, {200, 20}}, ""},
		"less than twice the work":           {[][2]float64{{100, 100}, {150, 150}, {199, 199}}, ""},
		"twice the work":                     {[][2]float64{{100, 100}, {150, 150}, {200, 200}}, "grows"},
		"two runs":                           {[][2]float64{{100, 100}, {400, 400}}, ""},
		"few blocks":                         {[][2]float64{{100, 1}, {200, 2}, {400, 4}}, ""},
		"four may be chance":                 {[][2]float64{{100, 4}, {200, 8}, {400, 16}}, ""},
		"five are not":                       {[][2]float64{{100, 5}, {200, 10}, {400, 20}}, "grows"},
		"off by one block":                   {[][2]float64{{100, 2}, {200, 3}, {1000, 20}}, "grows"},
		"off by more than one block":         {[][2]float64{{100, 2}, {200, 2}, {1000, 21}}, ""},
		"off by 10 %":                        {[][2]float64{{100, 90}, {200, 200}, {300, 310}}, "grows"},
		"off by more than 10 %":              {[][2]float64{{100, 89}, {200, 200}, {300, 311}}, ""},
		"it fills up":                        {[][2]float64{{100, 100}, {200, 150}, {400, 160}}, ""},
		"one-time and growth":                {[][2]float64{{100, 150}, {200, 250}, {400, 450}}, ""},
		"in one of the runs it is not there": {[][2]float64{{100, -1}, {200, 200}, {400, 400}}, ""},
		"no work":                            {[][2]float64{{0, 5}, {200, 200}, {400, 400}}, ""},
		"as many, some without work":         {[][2]float64{{0, 5}, {0, 5}, {10, 5}}, ""},
		"as many":                            {[][2]float64{{1, 1}, {1, 1}, {100, 1}}, "stays"},
		"as many, which may be chance":       {[][2]float64{{1, 1}, {1, 1}, {10, 1}}, ""},
		"one block, 32 times the work":       {[][2]float64{{1, 1}, {1, 1}, {32, 1}}, "stays"},
		"one block, 31 times the work":       {[][2]float64{{1, 1}, {1, 1}, {31, 1}}, ""},
		"one block, 100 times in two":        {[][2]float64{{1, 1}, {100, 1}, {100, 1}}, ""},
		"one block, 150 times in two":        {[][2]float64{{1, 1}, {150, 1}, {150, 1}}, "stays"},
		"as many of several":                 {[][2]float64{{1, 5}, {2, 5}, {8, 5}}, "stays"},
		"nearly as many":                     {[][2]float64{{1, 50}, {2, 50}, {4, 51}}, ""},
		"as many, and little more work":      {[][2]float64{{10, 500}, {11, 500}, {19, 500}}, ""},
		"fewer with more work":               {[][2]float64{{100, 400}, {200, 200}, {400, 100}}, ""},
		"very many":                          {[][2]float64{{1, 9e5}, {2, 9e5}, {4, 9e5}}, "stays"},
	} {
		p := workPool(test.runs...)
		at := len(test.runs) - 1
		own := p.RatingByRun[at]
		rating, pooled := p.Rate(at, own)
		got := ""
		switch {
		case pooled == nil || pooled.Work == nil:
		case pooled.Work.Grows && rating.Class == analysis.ClassLeak && rating.Certain && pooled.Leaks && pooled.Certain:
			got = "grows"
		case pooled.Work.Stays && rating == own.Rating && !pooled.Leaks:
			got = "stays"
		}
		if got != test.want || got == "" && rating != own.Rating {
			t.Errorf("%s: %q, want %q: %+v", name, got, test.want, rating)
		}
	}
}

// Only runs of one build are compared that print as many lists of the same tools, and only what their lists show.
func TestWorkIsComparable(t *testing.T) {
	grows := [][2]float64{{100, 100}, {200, 200}, {400, 400}}
	for name, change := range map[string]func(*Pool){
		"another build":     func(p *Pool) { p.Runs[0].Rank = LineRank(0) },
		"another unit":      func(p *Pool) { p.Runs[0].ExitWork.Unit = "page" },
		"more lists":        func(p *Pool) { p.Runs[0].ExitWork.Lists = 2 },
		"another tool":      func(p *Pool) { p.Runs[0].ExitTools = []string{"crt-leaks"} },
		"work is not known": func(p *Pool) { p.Runs[0].ExitWork = nil },
		"its own is not":    func(p *Pool) { p.Runs[2].ExitWork = nil },
		"it grows there":    func(p *Pool) { p.RatingByRun[0].Class = analysis.ClassGrowing },
		"it grows here":     func(p *Pool) { p.RatingByRun[2].Class = analysis.ClassGrowing },
		"blocks unknown":    func(p *Pool) { p.RatingByRun[0].Lost = 0 },
		"of its own, too":   func(p *Pool) { p.RatingByRun[2].Lost = 0 },
	} {
		p := workPool(grows...)
		change(p)
		if c := p.compareWork(2, p.RatingByRun[2]); c != nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
	growing := *workPool(grows...).RatingByRun[2]
	growing.Class = analysis.ClassGrowing // another part of the leak
	if c := workPool(grows...).compareWork(2, &growing); c != nil {
		t.Errorf("a part that grows: %+v", c)
	}
	unknown := workPool([][2]float64{{1, 1}, {100, 100}, {400, 400}}...)
	unknown.RatingByRun[0].Lost = 0
	if c := unknown.compareWork(2, unknown.RatingByRun[2]); c != nil {
		t.Errorf("few blocks expected, and unknown: %+v", c)
	}
	possible := workPool(grows...)
	possible.RatingByRun[2].Certain = false
	if rating, _ := possible.Rate(2, possible.RatingByRun[2]); rating.Class != analysis.ClassLeak || rating.Certain {
		t.Errorf("possible leaks: %+v", rating)
	}
}

// A clause names the counts, least work first, each once.
func TestWorkClause(t *testing.T) {
	for want, runs := range map[string][][2]float64{
		"Grows in proportion to the work, in 4 runs of this build: 10 blocks after 100 documents, 20 blocks after 200 documents.": {
			{200, 20}, {100, 10}, {100, 10}, {200, 20}},
		"One-time: as many blocks whatever the work, in 3 runs of this build: 7 blocks after 0.5 documents, 7 blocks after 1 document, 7 blocks after 9 documents.": {
			{1, 7}, {9, 7}, {0.5, 7}},
	} {
		p := workPool(runs...)
		_, pooled := p.Rate(0, p.RatingByRun[0])
		if pooled == nil {
			t.Fatalf("%v: not compared", runs)
		}
		clauses := pooled.Clauses(p.RatingByRun[0].Rating)
		if len(clauses) != 1 || clauses[0].Text != want || clauses[0].Rule != "work" || *clauses[0].Holds != pooled.Work.Grows {
			t.Errorf("%+v\nwant %s", clauses, want)
		}
	}
}

func TestBinomialUpTo(t *testing.T) {
	for _, test := range []struct {
		n, k int64
		p    float64
		want string
	}{
		{3, 1, 0.5, "0.5000"}, {4, 0, 0.5, "0.0625"}, {4, 4, 0.5, "1.0000"}, {4, 3, 1, "0.0000"}, {4, 0, 0, "1.0000"},
		{10_000, 4_950, 0.5, "0.1611"}, {10_002, 4_951, 0.5, "0.1611"},
	} {
		if got := fmt.Sprintf("%.4f", binomialUpTo(test.n, test.k, test.p)); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	if math.IsNaN(binomialUpTo(1, 0, math.Nextafter(1, 0))) {
		t.Error("no number")
	}
}
