package leaks

import "slices"

// A Namesake is a signature that is the outline of other signatures: evidence without inlined calls gives those leaks
// this signature.
type Namesake struct {
	ID     int64
	RootID int64               // id of the leak that it is part of; its own id where it is a leak of its own
	Joined bool                // it is part of Root because of its outline
	Others []OutlinedSignature // the signatures whose outline it is
}

// An OutlinedSignature is a signature that a Namesake may become part of. Of several signatures of one leak the root
// comes first.
type OutlinedSignature struct {
	ID, RootID int64
	Text       string // "sig1:…"
	Beside     bool   // one run shows both, by the same evidence
	Left       bool   // a person has separated the two
}

// IsMistaken reports whether a namesake is joined but must not be. It stays joined where the other signature has a
// different outline by now, or no longer leaks: neither contradicts the join, and what the team said since applies to
// both.
func (n *Namesake) IsMistaken() bool {
	return n.Joined && slices.ContainsFunc(n.Others,
		func(o OutlinedSignature) bool { return o.RootID != n.RootID || o.Beside })
}

// Other is the signature that a Namesake is to become part of; nil for none. Two signatures that one run shows side by
// side are two leaks: one of an inlined function, one of its caller.
func (n *Namesake) Other() *OutlinedSignature {
	if n.Joined || len(n.Others) == 0 {
		return nil
	}
	for i := range n.Others {
		if o := &n.Others[i]; o.RootID != n.Others[0].RootID || o.RootID == n.RootID || o.Beside || o.Left {
			return nil
		}
	}
	return &n.Others[0]
}

// A ReplacedSignature is a signature that no up-to-date result has any more, because its sites now have another one.
type ReplacedSignature struct {
	ID         int64
	PartOfID   int64                  // id of the signature that it is part of already; 0 for none
	Plain      bool                   // it has no triage, and no signature is part of it
	Candidates []ReplacementCandidate // sorted by how much moved to each, most first; at least one
}

// A ReplacementCandidate is a signature that a replaced one may become part of.
type ReplacementCandidate struct {
	ID        int64
	Text      string // "sig1:…"
	IsRoot    bool   // it is not part of another signature
	AsOutline bool   // it is part of another because it is its outline
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
	case l.PartOfID == to.ID:
		return KeepAsIs
	case l.PartOfID == 0 && l.Plain && to.IsRoot && !leaves(to.ID):
		return MergeAlone
	}
	return MergeWithParts
}

// A SiteSignature is the part of a site that stays the same when its run is analysed again, with its signature.
type SiteSignature[Key comparable] struct {
	Key         Key
	SignatureID int64 // id; 0 for none
	Bytes       int64 // held
}

// A SignatureMove is a pair of signatures, the first of which sites left for the second.
type SignatureMove struct{ FromID, ToID int64 }

// WeighMoves weighs how much moved from which signature to which when a run was analysed again: the bytes that the
// sites hold, and one for each site. A stack of one kind may be in several heaps, and counts once.
func WeighMoves[Key comparable](before, after []SiteSignature[Key]) map[SignatureMove]int64 {
	held := map[Key]map[int64]int64{}
	for _, s := range before {
		if held[s.Key] == nil {
			held[s.Key] = map[int64]int64{}
		}
		held[s.Key][s.SignatureID] += max(0, s.Bytes) + 1
	}
	weights, counted := map[SignatureMove]int64{}, map[Key]bool{}
	for _, s := range after {
		if counted[s.Key] || s.SignatureID == 0 {
			continue
		}
		counted[s.Key] = true
		for from, weight := range held[s.Key] {
			if from != s.SignatureID {
				weights[SignatureMove{from, s.SignatureID}] += weight
			}
		}
	}
	return weights
}
