package compare

import "heapdrift/internal/analysis"

// ResultOf makes the result of a build of the report on its only run.
func ResultOf(build string, r *analysis.Report) *BuildResult {
	s := &BuildResult{Build: build, Statuses: []analysis.VerdictStatus{r.Verdict.Status}, Suffices: r.Suffices(),
		Trace: r.Trace != nil, Power: r.Power, Findings: make([]Finding, len(r.Findings)),
		Seen: []FrameCounts{CountFrames(r)}}
	for i := range r.Warnings {
		s.Lossy = s.Lossy || r.Warnings[i].Code.Lossy()
	}
	for i := range r.Findings {
		s.Findings[i] = findingOf(&r.Findings[i])
	}
	return s
}

func findingOf(f *analysis.Finding) Finding {
	out := Finding{
		Signature: f.Signature, Kind: f.Kind, Title: f.Title, Leaf: f.Leaf, Outline: f.Outline, Frames: f.Frames,
		Blame: f.Blame,
		Class: f.Verdict, Score: f.Score, Certain: f.Certain, Immaterial: f.Immaterial, Risk: f.Risk,
		Outstanding: f.Outstanding, Allocated: -1, AtExit: f.Verdict == analysis.ClassLeftAtExit,
		Listed: f.LeftAtExit.Listed().Alone(), Owner: f.Owner,
		Known: f.Known, ByRule: f.Known != "",
	}
	if f.Growth != nil {
		out.Growth = new(f.GrowthBeforeExit())
	}
	if f.Lifetimes != nil {
		out.Allocated = f.Allocated.Count
	}
	out.TakeRate(f.Rate)
	return out
}
