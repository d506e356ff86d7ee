package evaluation

import (
	"strconv"

	"heapdrift/internal/analysis"
)

// A Rival is a simpler rule that users could go by instead.
type Rival struct {
	Name  string
	flags func(*analysis.Report, *analysis.Site) bool
}

// snapshotRivals and traceRivals are the rules for each kind of evidence.
var (
	snapshotRivals = []Rival{
		{"difference of the first and the last log: more bytes",
			func(_ *analysis.Report, s *analysis.Site) bool { return s.Growth != nil && s.Growth.Bytes > 0 }},
		{"in all logs, and more blocks in each", func(_ *analysis.Report, s *analysis.Site) bool {
			for i, p := range s.Series {
				if p.Count == 0 || i > 0 && p.Count <= s.Series[i-1].Count {
					return false
				}
			}
			return true
		}},
		{"the ten that hold most blocks", nil},
	}
	traceRivals = []Rival{
		{"net bytes of the trace above 0",
			func(_ *analysis.Report, s *analysis.Site) bool { return s.Growth != nil && s.Growth.Bytes > 0 }},
		{"allocated inside, not freed (AIFO)",
			func(_ *analysis.Report, s *analysis.Site) bool { return s.Lifetimes != nil && s.AIFO.Count > 0 }},
		{"the ten that hold most blocks", nil},
	}
)

// most is how many stacks a ranking by what they hold flags: what debuggers print first.
const most = 10

// RivalsOf returns the rules that apply to the evidence of the cases.
func RivalsOf(c *Cases) []Rival {
	if c.Snapshots == 0 {
		return traceRivals
	}
	return snapshotRivals
}

func addRivals(cases []Case, r *analysis.Report) {
	rivals := snapshotRivals
	if r.Trace != nil {
		rivals = traceRivals
	}
	for i := range cases {
		cases[i].Rivals = make([]bool, len(rivals))
	}
	held := make([]int64, len(cases))
	for i := range r.Sites {
		s := &r.Sites[i]
		k := stackOf(r, s)
		if k < 0 || k >= len(cases) {
			continue
		}
		for at, rival := range rivals {
			if rival.flags != nil && rival.flags(r, s) {
				cases[k].Rivals[at] = true
			}
		}
		held[k] += s.Outstanding.Count
	}
	for range most {
		top := 0
		for k := range held {
			if held[k] > held[top] {
				top = k
			}
		}
		if held[top] > 0 {
			cases[top].Rivals[len(rivals)-1] = true
			held[top] = 0
		}
	}
}

// stackOf is the number of the stack that a site is of, −1 for none.
func stackOf(r *analysis.Report, s *analysis.Site) int {
	for _, f := range r.Stack(s.Stack) {
		if m := stackNumber.FindStringSubmatch(f.Function); m != nil {
			k, _ := strconv.Atoi(m[1])
			return k
		}
	}
	return -1
}
