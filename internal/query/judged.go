package query

import (
	"cmp"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// JudgesSelection reports whether classes, scores and reasons are of the selection alone. Otherwise they are of the
// whole run: a part of a series may be too short to judge, and the verdict on a trace is of the time before the process
// ended.
func (r *Result) JudgesSelection() bool { return r.windowed != nil }

// JudgedScope says what classes and scores are of: "selection" or "run".
func (r *Result) JudgedScope() string {
	if r.JudgesSelection() {
		return "selection"
	}
	return "run"
}

// isOfAllTime reports whether the selection has the time that the report has judged: of a series all snapshots.
func (r *Result) isOfAllTime() bool { return !r.JudgesSelection() && r.Snapshots == nil }

// isJudged reports whether the report has judged the time that is selected of a trace: the whole of it, or what was
// before the process ended.
func (x *Index) isJudged(s *Selection) bool {
	if s.OfAllocations() {
		return false
	}
	w := s.window(x.report.Trace)
	before, ends := x.report.Trace.WindowBeforeExit()
	return ends && w == before || w == (&Selection{}).window(x.report.Trace)
}

// Clauses are the reasons for the signature's class in a selection that is judged by itself; none otherwise.
func (r *Row) Clauses() []score.Clause {
	if r.judged == nil {
		return nil
	}
	return r.judged.Clauses()
}

// judge takes the judgement on one of the signature's sites where it is graver than those before.
func (r *Row) judge(s *analysis.WindowSite) {
	if j := r.judged; j == nil || cmp.Or(cmp.Compare(s.Verdict.Gravity(), j.Verdict.Gravity()),
		analysis.CompareScores(s.Score, j.Score)) > 0 {
		r.judged, r.Score, r.Certain = s, s.Score, s.Certain
	}
}
