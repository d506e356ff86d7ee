package leaks

import "heapdrift/internal/analysis"

// A PastFinding is what one of the last runs of a scenario says of a signature.
type PastFinding struct {
	Signature string
	RunOrder  int // rank of the run: the oldest has the least
	Class     analysis.Class
	Certain   bool                   // a leak that may fail a gate
	Status    analysis.VerdictStatus // of the run
	Absent    bool                   // the run does not show it although its callers ran
}

// found reports whether the run found the leak, and whether it decides about it at all.
func (p *PastFinding) found() (found, decides bool) {
	switch {
	case p.Absent:
		return false, true
	case p.Class.IsLeak():
		return p.Certain, p.Certain
	}
	return false, JudgementOf(p.Class, p.Status) == JudgedClean
}

// FoundInPastRuns returns, by signature, whether each run found it, the oldest first; runs that do not decide about it
// are left out. The list is ordered by signature and run. Of several findings of one run one that found it counts
// first, then one that does not decide.
func FoundInPastRuns(list []PastFinding) map[string][]bool {
	past := map[string][]bool{}
	for len(list) > 0 {
		n, shows, open := 0, false, false
		for n < len(list) && list[n].Signature == list[0].Signature && list[n].RunOrder == list[0].RunOrder {
			found, decides := list[n].found()
			shows, open = shows || found, open || !decides
			n++
		}
		if shows || !open {
			past[list[0].Signature] = append(past[list[0].Signature], shows)
		}
		list = list[n:]
	}
	return past
}
