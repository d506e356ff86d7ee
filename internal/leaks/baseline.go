package leaks

// A BaselineCandidate is a build that may serve as the baseline of another.
type BaselineCandidate struct {
	Name    string
	Rank    BuildRank // its order among the builds of the project
	OnLine  bool      // it is on the line of builds that leads to the other build
	Pinned  bool      // a release
	Chosen  bool      // the project's baseline
	HasRun  bool      // it has a result in the scenario
	Decides bool      // one of those results is not inconclusive: with others nothing can be called new
}

// ChooseBaseline chooses the build that head is to be compared with: the project's baseline, else the newest pinned
// one, else the newest on its line: the branch, and before it the parent line up to the fork; always an older build
// that has a result in the scenario. Among equal candidates, those whose evidence decides something come first.
// Baseline returns "" where no build qualifies.
func ChooseBaseline(head BaselineCandidate, candidates []BaselineCandidate) string {
	var best *BaselineCandidate
	for i := range candidates {
		c := &candidates[i]
		eligible := c.Chosen || c.Pinned || c.OnLine
		if !c.HasRun || !eligible || CompareRanks(c.Rank, head.Rank) >= 0 {
			continue
		}
		if best == nil || compareCandidates(c, best) > 0 {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// compareCandidates is greater than 0 where a is the better baseline.
func compareCandidates(a, b *BaselineCandidate) int {
	for _, pair := range [][2]bool{{a.Chosen, b.Chosen}, {a.Pinned, b.Pinned}, {a.Decides, b.Decides}} {
		if order := compareBools(pair[0], pair[1]); order != 0 {
			return order
		}
	}
	return CompareRanks(a.Rank, b.Rank)
}

// NewestWithResult is the newest of the builds that has a result in the scenario; "" for none.
func NewestWithResult(candidates []BaselineCandidate) string {
	var best *BaselineCandidate
	for i := range candidates {
		if c := &candidates[i]; c.HasRun && (best == nil || CompareRanks(c.Rank, best.Rank) > 0) {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// NewestReleaseBefore is the newest pinned build before head that has a result in the scenario, with which drift is
// compared; "" for none.
func NewestReleaseBefore(head BaselineCandidate, candidates []BaselineCandidate) string {
	older := make([]BaselineCandidate, 0, len(candidates))
	for _, c := range candidates {
		if c.Pinned && CompareRanks(c.Rank, head.Rank) < 0 {
			older = append(older, c)
		}
	}
	return NewestWithResult(older)
}
