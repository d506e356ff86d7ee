package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis/blame"
)

// likeEnough is from which likeness on two signatures are suggested as one.
const likeEnough = 0.6

// What likeness is made of: the frames tell most; that blocks have the same size and come as fast tells the rest.
const (
	framesPart = 0.7
	sizePart   = 0.15
	ratePart   = 0.15
)

// maxCandidates is with how many leaks that appeared one that vanished is compared.
const maxCandidates = 50

// Renames pairs leaks that vanished (rows without a head) with leaks that appeared (rows without a base), the most
// similar first. Each is paired once at most.
func Renames(rows []Row) []Rename {
	appeared := map[string][]*Finding{} // by what names they have
	for i := range rows {
		if rows[i].Base == nil {
			for _, key := range renameKeys(rows[i].Head) {
				appeared[key] = append(appeared[key], rows[i].Head)
			}
		}
	}
	list := drifted(rows)
	for i := range rows {
		if rows[i].Head != nil {
			continue
		}
		vanished := rows[i].Base
		for _, candidate := range candidates(vanished, appeared) {
			if like, frames := likeness(vanished, candidate); like >= likeEnough {
				why := fmt.Sprintf("frames %.0f %% similar, blocks of %.0f and %.0f bytes", 100*frames,
					blockSize(vanished), blockSize(candidate))
				list = append(list, Rename{vanished.Signature, candidate.Signature, like, why})
			}
		}
	}
	sorting.Stable(list, func(a, b Rename) int {
		return cmp.Or(cmp.Compare(b.Likeness, a.Likeness), cmp.Compare(a.Base, b.Base), cmp.Compare(a.Head, b.Head))
	})
	taken := map[string]bool{}
	return slices.DeleteFunc(list, func(r Rename) bool {
		if taken[r.Base] || taken[r.Head] {
			return true
		}
		taken[r.Base], taken[r.Head] = true, true
		return false
	})
}

// surelyDrifted is the likelihood that two signatures are one leak, if one lacks a frame that compilers leave out.
const surelyDrifted = 0.95

// drifted pairs leaks whose frames differ only by frames that compilers leave out.
func drifted(rows []Row) []Rename {
	var list []Rename
	vanished, appeared := map[string][]blame.Signature{}, map[string][]blame.Signature{} // by kind
	for i := range rows {
		switch r := &rows[i]; {
		case r.Head == nil:
			vanished[r.Base.Kind] = append(vanished[r.Base.Kind], blame.Signature{ID: r.Base.Signature, Frames: r.Base.Frames})
		case r.Base == nil:
			appeared[r.Head.Kind] = append(appeared[r.Head.Kind], blame.Signature{ID: r.Head.Signature, Frames: r.Head.Frames})
		}
	}
	for kind, from := range vanished {
		to := appeared[kind]
		for _, d := range blame.FindReplacements(from, to) {
			if d.FrameOmitted {
				list = append(list, Rename{from[d.From].ID, to[d.To].ID, surelyDrifted,
					"same frames except one that the compiler left out (inlined, or a tail jump)"})
			}
		}
	}
	return list
}

// renameKeys are the keys of a finding, of which similar findings share at least one, within a kind of memory. A key is
// the name of a function without module and class, or the leaf signature.
func renameKeys(f *Finding) []string {
	keys := make([]string, 0, len(f.Frames)+1)
	if f.Leaf != "" {
		keys = append(keys, f.Kind+" leaf "+f.Leaf)
	}
	for _, frame := range f.Frames {
		name := frame[strings.LastIndexAny(frame, "!:")+1:]
		if key := f.Kind + " " + name; !strings.HasPrefix(name, "<unknown>") && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// candidates are the findings that share a key, those of rare keys first.
func candidates(f *Finding, by map[string][]*Finding) []*Finding {
	keys := renameKeys(f)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(len(by[a]), len(by[b])) })
	var list []*Finding
	for _, key := range keys {
		for _, candidate := range by[key] {
			if len(list) == maxCandidates {
				return list
			}
			if !slices.Contains(list, candidate) {
				list = append(list, candidate)
			}
		}
	}
	return list
}

func likeness(base, head *Finding) (like, ofFrames float64) {
	frames := blame.Similarity(base.Frames, head.Frames)
	if base.Leaf != "" && base.Leaf == head.Leaf {
		frames = max(frames, 0.9)
	}
	size, pace := AmountSimilarity(base, []*Finding{head})
	return framesPart*frames + sizePart*size + ratePart*pace, frames
}

// AmountSimilarity compares a finding with what several runs show of another one: size is the similarity of the bytes
// per block, pace that of the rates. Each is 1 between the least and the most of the runs, outside of that the smaller
// over the larger, and 0 where one is unknown or has another unit.
func AmountSimilarity(f *Finding, runs []*Finding) (size, pace float64) {
	var sizes, paces []float64
	for _, r := range runs {
		sizes = append(sizes, blockSize(r))
		if r.RateUnit == f.RateUnit {
			paces = append(paces, r.RateCount)
		}
	}
	return ratioToAny(blockSize(f), sizes), ratioToAny(f.RateCount, paces)
}

// ratioToAny is the ratio of an amount to the range of others, of which those that are not known do not count.
func ratioToAny(a float64, others []float64) float64 {
	others = slices.DeleteFunc(others, func(v float64) bool { return v <= 0 })
	if len(others) == 0 {
		return 0
	}
	return ratio(a, min(max(a, slices.Min(others)), slices.Max(others)))
}

// blockSize is how large the blocks are that a finding grows by; those that it holds where it does not grow by any.
func blockSize(f *Finding) float64 {
	switch {
	case f.RateCount > 0 && f.RateBytes > 0:
		return f.RateBytes / f.RateCount
	case f.Outstanding.Count > 0:
		return float64(f.Outstanding.Bytes) / float64(f.Outstanding.Count)
	}
	return 0
}

// ratio is the smaller of two amounts over the greater, 0 where there is none.
func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return min(a, b) / max(a, b)
}
