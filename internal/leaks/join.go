package leaks

import "slices"

// A Namesake is a signature whose text is the outline of other signatures, that is, the name that evidence without
// inlined calls gives them.
type Namesake struct {
	ID     int64
	Root   int64 // the leak that it is part of; itself where it is a leak of its own
	Joined bool  // it is part of that by its outline
	Others []OutlinedSignature
}

// An OutlinedSignature is a signature that a namesake may become part of. Of several signatures of one leak the root
// comes first.
type OutlinedSignature struct {
	ID, Root int64
	Text     string
	Beside   bool // one run shows both, by the same evidence
	Left     bool // a person took the one out of the other
}

// IsMistaken reports whether a namesake is joined but must not be. It stays joined where the other signature has a
// different outline by now, or no longer leaks: neither contradicts the join, and what the team said since applies to
// both.
func (n *Namesake) IsMistaken() bool {
	return n.Joined && slices.ContainsFunc(n.Others,
		func(o OutlinedSignature) bool { return o.Root != n.Root || o.Beside })
}

// Other is the signature that a namesake is to become part of; nil for none. Two signatures that one run shows side by
// side are two leaks: one of an inlined function, one of its caller.
func (n *Namesake) Other() *OutlinedSignature {
	if n.Joined || len(n.Others) == 0 {
		return nil
	}
	for i := range n.Others {
		if o := &n.Others[i]; o.Root != n.Others[0].Root || o.Root == n.Root || o.Beside || o.Left {
			return nil
		}
	}
	return &n.Others[0]
}

// A ReplacedSignature is a signature that no up-to-date result has any more, because its sites now have another one.
type ReplacedSignature struct {
	ID         int64
	Now        int64                  // that it is part of already; 0 for none
	Plain      bool                   // nothing is said of it and nothing is part of it
	Candidates []ReplacementCandidate // by how much of it went there, most first; at least one
}

// A ReplacementCandidate is a signature that a replaced one may become part of.
type ReplacementCandidate struct {
	ID        int64
	Text      string
	IsRoot    bool // it is not part of another itself
	AsOutline bool // it is part of another as its outline
}

// A ReplacementAction is what becomes of a replaced signature.
type ReplacementAction int8

// The actions.
const (
	KeepAsIs       ReplacementAction = iota // it is already part of its first candidate
	MergeAlone                              // it becomes part of its first candidate; it has no triage and no parts that would go with it
	MergeWithParts                          // it becomes part of the first candidate that is not part of it; triage and parts go with it
)

// Action decides what becomes of the signature. leaves reports whether another signature is replaced as well: two that
// replace each other are not merged at once.
func (l *ReplacedSignature) Action(leaves func(id int64) bool) ReplacementAction {
	to := l.Candidates[0]
	switch {
	case l.Now == to.ID:
		return KeepAsIs
	case l.Now == 0 && l.Plain && to.IsRoot && !leaves(to.ID):
		return MergeAlone
	}
	return MergeWithParts
}

// A SiteSignature is the part of a site that stays the same when its run is analysed again, with its signature.
type SiteSignature[Key comparable] struct {
	Key       Key
	Signature int64 // 0 for none
	Bytes     int64 // outstanding
}

// A SignatureMove is a pair of signatures, the first of which sites left for the second.
type SignatureMove struct{ From, To int64 }

// WeighMoves weighs which signatures the sites of a run left for which others when it was analysed again: by the bytes
// that they held, and one for each site. One stack and kind may be in several heaps, and counts once.
func WeighMoves[Key comparable](before, after []SiteSignature[Key]) map[SignatureMove]int64 {
	held := map[Key]map[int64]int64{}
	for _, s := range before {
		if held[s.Key] == nil {
			held[s.Key] = map[int64]int64{}
		}
		held[s.Key][s.Signature] += max(0, s.Bytes) + 1
	}
	weights, counted := map[SignatureMove]int64{}, map[Key]bool{}
	for _, s := range after {
		if counted[s.Key] || s.Signature == 0 {
			continue
		}
		counted[s.Key] = true
		for from, weight := range held[s.Key] {
			if from != s.Signature {
				weights[SignatureMove{from, s.Signature}] += weight
			}
		}
	}
	return weights
}
