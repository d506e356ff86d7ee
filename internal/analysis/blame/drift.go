package blame

import (
	"cmp"
	"slices"

	"heapdrift/ingest/sorting"
)

// A Replacement pairs a signature that only one build has with the one that replaces it in another build.
type Replacement struct {
	From, To int     // indexes in the lists that FindReplacements got
	Likeness float64 // as Similarity says: 0 to 1
	// FrameOmitted says that one is the other without one frame between the first and the last: what compilers do that make
	// the last call of a function a jump, or inline and leave no trace. It is likely the same leak, and not certain: two
	// paths of one program may differ so too. Otherwise functions have other names.
	FrameOmitted bool
}

// leastAlike is what signatures must have in common to be suggested, and maxCandidates with how many one is compared.
const leastAlike, maxCandidates = 0.6, 100

// FindReplacements pairs the signatures that only an earlier build has with those that only a later one has, the surest
// pairs first. Both lists are of one kind of memory. Each of the later is paired once at most, and not where several of
// the earlier are as like it. One of the earlier may have several in its place where frames are omitted: those that had
// the same frames up to the fifth.
//
// A signature is exact, because names cannot tell that a frame is missing: this function finds the leak again. Pairs
// are suggestions. Of signatures that have no counterpart, the test of rebuilt programs pairs 4 in 100 as Omitted.
func FindReplacements(from, to []Signature) []Replacement {
	byName := map[string][]int{}
	for i := range to {
		for _, key := range driftKeys(to[i].Frames) {
			byName[key] = append(byName[key], i)
		}
	}
	var all []Replacement
	for i := range from {
		seen := map[int]bool{}
		for _, key := range driftKeys(from[i].Frames) {
			for _, k := range byName[key] {
				if len(seen) == maxCandidates {
					break
				}
				if seen[k] {
					continue
				}
				seen[k] = true
				d := Replacement{From: i, To: k, Likeness: Similarity(from[i].Frames, to[k].Frames),
					FrameOmitted: omits(from[i].Frames, to[k].Frames) || omits(to[k].Frames, from[i].Frames)}
				if d.FrameOmitted || d.Likeness >= leastAlike {
					all = append(all, d)
				}
			}
		}
	}
	return unambiguous(all)
}

// driftKeys are what signatures that drifted have in common, the rarest first: two of their first frames, or the name
// of one of the first two functions without class and module.
func driftKeys(frames []string) []string {
	keys := make([]string, 0, 8)
	near := frames[:min(4, len(frames))]
	for j := range near {
		for i := range j {
			keys = append(keys, near[i]+"\n"+near[j])
		}
	}
	for _, f := range frames[:min(2, len(frames))] {
		_, function := splitModule(f)
		if _, name := splitClass(function); !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return keys
}

// omits reports whether the short list is the long one without one frame between the one to blame and the last. Where
// the long one is cut at maxFrames, one more may follow in the short one: it was behind the cut.
func omits(long, short []string) bool {
	if len(long) < 3 || len(short) < 2 {
		return false
	}
	gap := 0
	for gap < min(len(long), len(short)) && long[gap] == short[gap] {
		gap++
	}
	if gap == 0 || gap >= len(long)-1 {
		return false
	}
	rest := long[gap+1:]
	if len(short) < gap+len(rest) || !slices.Equal(rest, short[gap:gap+len(rest)]) {
		return false
	}
	behind := len(short) - gap - len(rest)
	return behind == 0 || behind == 1 && len(long) == maxFrames
}

// unambiguous keeps the best pairs, unless another is as good.
func unambiguous(all []Replacement) []Replacement {
	better := func(a, b Replacement) int {
		if a.FrameOmitted != b.FrameOmitted {
			if a.FrameOmitted {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Likeness, a.Likeness)
	}
	sorting.Stable(all, better)
	bestFrom, bestTo := map[int]Replacement{}, map[int]Replacement{}
	tiedFrom, tiedTo := map[int]bool{}, map[int]bool{}
	for _, d := range all {
		if best, ok := bestFrom[d.From]; !ok {
			bestFrom[d.From] = d
		} else if better(best, d) == 0 {
			tiedFrom[d.From] = true
		}
		if best, ok := bestTo[d.To]; !ok {
			bestTo[d.To] = d
		} else if better(best, d) == 0 {
			tiedTo[d.To] = true
		}
	}
	var list []Replacement
	for _, d := range all {
		mutual := bestFrom[d.From] == d && !tiedFrom[d.From]
		if bestTo[d.To] == d && !tiedTo[d.To] && (mutual || d.FrameOmitted) {
			list = append(list, d)
		}
	}
	return list
}
