package leaks

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
)

// A StackSighting is one stack of a leak in a run.
type StackSighting struct {
	RunID  int64
	Frames []*analysis.Frame // innermost first; nil for allocations without a stack
	Held   analysis.Amount   // before the process ended, where the evidence sees that
	Growth *analysis.Amount  // nil where there is nothing to compare with
}

// A CallPath is one way by which a leak is reached: all its stacks that call the same functions. Lines, offsets and
// inlined calls may differ, as they do from build to build, and so may the allocator's frames and the first frames of
// the thread.
type CallPath struct {
	// DistinctFunctions are the functions, the outermost first, that distinguish the path from the others: two at most,
	// none where it is the only path.
	DistinctFunctions []string
	Frames            []*analysis.Frame // of its first stack in the shown run, else in the first run that has it
	Seen              []CallPathRun     // what each run shows of it, in the order of the runs
	// Variants are its stacks in the shown run where they differ in source lines, or in offsets where there are none;
	// nil where they do not.
	Variants []CallPathVariant

	calls []call
	lines map[string]int // place in Variants, by all places of a stack
}

// A CallPathVariant is what those stacks of a path hold that run through the same source lines.
type CallPathVariant struct {
	SourceLines []string // file:line where others of the path have another line, innermost first
	Held        analysis.Amount
	Growth      *analysis.Amount // nil where there is nothing to compare with

	all []string // places of all calls
}

// A CallPathRun is what one run shows of a call path.
type CallPathRun struct {
	RunID  int64
	Stacks int // how many stacks take the path in that run
	Held   analysis.Amount
	Growth *analysis.Amount // nil where there is nothing to compare with
}

// SeenIn is what a run shows of the path; nil where it does not.
func (v *CallPath) SeenIn(run int64) *CallPathRun {
	for i := range v.Seen {
		if v.Seen[i].RunID == run {
			return &v.Seen[i]
		}
	}
	return nil
}

// GroupCallPaths groups the stacks of a leak. Paths of the shown run come first, sorted by their growth in it and then
// by what they hold; the others follow in the order of the list, in which the stacks of one run are adjacent.
func GroupCallPaths(list []StackSighting, shown int64) []CallPath {
	var paths []CallPath
	at := map[string]int{}
	for i := range list {
		s := &list[i]
		calls := callsOf(s.Frames)
		var key strings.Builder
		for _, c := range calls {
			key.WriteString(c.name + "\x00")
		}
		k, known := at[key.String()]
		if !known {
			k = len(paths)
			at[key.String()] = k
			paths = append(paths, CallPath{Frames: s.Frames, calls: calls, lines: map[string]int{}})
		}
		v := &paths[k]
		if s.RunID == shown {
			if v.SeenIn(shown) == nil {
				v.Frames = s.Frames
			}
			v.takeLine(s, calls)
		}
		v.take(s)
	}
	nameDifferences(paths)
	for i := range paths {
		paths[i].keepDifferingLines()
	}
	sorting.Stable(paths, func(a, b CallPath) int {
		x, y := a.SeenIn(shown), b.SeenIn(shown)
		if x == nil || y == nil {
			return compareBools(x == nil, y == nil)
		}
		return compareGrown(x.Growth, y.Growth, x.Held, y.Held)
	})
	return paths
}

// compareGrown puts the stack that grew most first, then the one that holds most.
func compareGrown(aGrowth, bGrowth *analysis.Amount, aHeld, bHeld analysis.Amount) int {
	return cmp.Or(cmp.Compare(growthOf(bGrowth), growthOf(aGrowth)), cmp.Compare(bHeld.Bytes, aHeld.Bytes))
}

// grown adds two growths. Where one is nil, for nothing to compare with, the other is the result.
func grown(a, b *analysis.Amount) *analysis.Amount {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(a.Plus(*b))
}

// take adds a stack to the path.
func (v *CallPath) take(s *StackSighting) {
	in := v.SeenIn(s.RunID)
	if in == nil {
		v.Seen = append(v.Seen, CallPathRun{RunID: s.RunID})
		in = &v.Seen[len(v.Seen)-1]
	}
	in.Stacks++
	in.Held, in.Growth = in.Held.Plus(s.Held), grown(in.Growth, s.Growth)
}

// takeLine adds a stack of the shown run to those that run through the same lines.
func (v *CallPath) takeLine(s *StackSighting, calls []call) {
	places := make([]string, len(calls))
	for i, c := range calls {
		places[i] = c.line
	}
	key := strings.Join(places, "\x00")
	k, known := v.lines[key]
	if !known {
		k = len(v.Variants)
		v.lines[key] = k
		v.Variants = append(v.Variants, CallPathVariant{all: places})
	}
	line := &v.Variants[k]
	line.Held, line.Growth = line.Held.Plus(s.Held), grown(line.Growth, s.Growth)
}

// keepDifferingLines keeps of the lines those in which stacks of the path differ.
func (v *CallPath) keepDifferingLines() {
	if len(v.Variants) < 2 {
		v.Variants = nil
		return
	}
	for i := range v.Variants[0].all {
		differs := slices.ContainsFunc(v.Variants, func(l CallPathVariant) bool { return l.all[i] != v.Variants[0].all[i] })
		for k := range v.Variants {
			if differs {
				v.Variants[k].SourceLines = append(v.Variants[k].SourceLines, v.Variants[k].all[i])
			}
		}
	}
	sorting.Stable(v.Variants, func(a, b CallPathVariant) int {
		return compareGrown(a.Growth, b.Growth, a.Held, b.Held)
	})
}

// A call is the part of a frame that tells paths apart, and its place in the source.
type call struct{ name, line string }

// callsOf names the calls by which stacks take the same path, innermost first.
func callsOf(frames []*analysis.Frame) []call {
	var calls []call
	for _, f := range frames {
		switch f.Layer {
		case blame.LayerTool, blame.LayerAllocator, blame.LayerHeapGrowth, blame.LayerBase:
			continue
		}
		if f.Inline { // evidence without inlined calls lists the one that they were compiled into
			continue
		}
		c := call{name: f.Name(), line: cmp.Or(f.FileLine(), f.Function+"+"+f.Offset)} // of a frame without a function: module and offset, which are one build's only
		if f.Function != "" {
			c.name = blame.NormalizeModule(f.Module) + "!" + blame.NormalizeFunction(f.Function)
		}
		if len(calls) == 0 || calls[len(calls)-1].name != c.name { // recursion, however deep, is one call
			calls = append(calls, c)
		}
	}
	return calls
}

// nameDifferences names, for each path, the calls that no other path has, or, where there is none, calls that not
// all of them have.
func nameDifferences(paths []CallPath) {
	if len(paths) < 2 {
		return
	}
	have := map[string]int{}
	for i := range paths {
		once := map[string]bool{}
		for _, c := range paths[i].calls {
			if !once[c.name] {
				once[c.name] = true
				have[c.name]++
			}
		}
	}
	for i := range paths {
		var alone, some []string
		for _, c := range paths[i].calls {
			switch have[c.name] {
			case 1:
				alone = append(alone, c.name)
			case len(paths):
				continue
			}
			some = append(some, c.name)
		}
		if alone == nil {
			alone = some
		}
		if len(alone) == 0 {
			continue
		}
		paths[i].DistinctFunctions = []string{alone[len(alone)-1]}
		if alone[0] != alone[len(alone)-1] {
			paths[i].DistinctFunctions = append(paths[i].DistinctFunctions, alone[0])
		}
	}
}
