package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis/footprint"
)

// A Memory is what one piece of evidence says of the process's memory beside sites. Its claims and samples have their
// stacks.
type Memory struct {
	File    string `json:"file"`               // name of the file of the evidence
	Kind    string `json:"kind"`               // of the evidence: a capture.Kind
	TakenAt string `json:"taken_at,omitempty"` // local time of the traced machine, no zone
	capture.Memory
	Claims  []ToolClaim `json:"claims,omitempty"`
	Samples []Sample    `json:"samples,omitempty"`
}

// A ToolClaim is what another tool concluded about a function, by its own method.
type ToolClaim struct {
	Where     string `json:"where"` // the blamed frame, for sentences
	Signature string `json:"signature,omitempty"`
	Type      string `json:"type"` // "Heap allocation(s)"
	Amount
	MarginBytes int64    `json:"margin,omitempty"`   // by how many bytes the printed size may be wrong
	Percent     *int     `json:"percent,omitempty"`  // the tool's own probability of a leak
	Detached    bool     `json:"detached,omitempty"` // it is about handles or the like, not memory
	Stack       StackRef `json:"stack"`
	Samples     []Sample `json:"samples,omitempty"`
}

// A Sample is one allocation whose stack the evidence shows.
type Sample struct {
	Title       string   `json:"title,omitempty"`
	Address     string   `json:"address,omitempty"`     // in hex
	Size        int64    `json:"size"`                  // bytes
	Note        string   `json:"note,omitempty"`        // what the tool says of it
	Unreachable bool     `json:"unreachable,omitempty"` // the tool found no pointer to it
	Leaked      bool     `json:"leaked,omitempty"`      // as Application Verifier says
	Where       string   `json:"where,omitempty"`       // the blamed frame, for sentences
	Signature   string   `json:"signature,omitempty"`
	Stack       StackRef `json:"stack"`
}

// bareSamples is how many samples without a stack a report shows: they all look alike, and logs list tens of thousands.
const bareSamples = 100

// bareLeaks is how many of those are shown that a tool calls leaks.
const bareLeaks = 2000

// memories collects what all evidence says beside sites, in the order of the evidence.
func memories(ctx context.Context, parts []part, opt *Options, table *frameTable) ([]Memory, error) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.Memory == nil })
	sorting.Stable(parts, func(a, b part) int { return cmp.Compare(a.order, b.order) })
	list := make([]Memory, 0, len(parts))
	for i, p := range parts {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("analysis: %w", context.Cause(ctx))
		}
		m := memoryOf(p, opt, table)
		if first := firstOf(parts[:i], p, func(m *capture.Memory) bool { return len(m.Heaps) > 0 }); first >= 0 {
			m.growHeaps(&list[first])
		}
		if first := firstOf(parts[:i], p, func(m *capture.Memory) bool { return len(m.Groups) > 0 }); first >= 0 {
			m.growGroups(&list[first])
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return nil, nil
	}
	keepMaps(list)
	return list, nil
}

// keptMaps is how many maps of the address space a report has: a file of VMMap may have a thousand, and each is some 80
// KB in what every page of the run reads.
const keptMaps = 4

// keepMaps leaves all maps out but the first one and the last ones.
func keepMaps(list []Memory) {
	var mapped []int
	for i := range list {
		if s := list[i].Space; s != nil && s.Map != nil {
			mapped = append(mapped, i)
		}
	}
	for n, i := range mapped {
		if n > 0 && n <= len(mapped)-keptMaps {
			space := *list[i].Space // that of the capture keeps its map
			space.Map = &capture.SpaceMap{LeftOut: true}
			list[i].Space = &space
		}
	}
}

// firstOf is the first of the parts that is of the same kind and the same life of the process and says something; −1
// for none.
func firstOf(before []part, p part, has func(*capture.Memory) bool) int {
	return slices.IndexFunc(before, func(b part) bool {
		return b.Kind == p.Kind && sameLife(b.Capture, p.Capture) && has(b.Memory)
	})
}

// sameLife reports whether two captures, the later one last, may show one life of a process: one that names no process
// is of that of its run.
func sameLife(a, b *capture.Capture) bool {
	samePID := a.Process.PID == b.Process.PID || a.Process.PID == 0 || b.Process.PID == 0
	moved, _ := movedModules(a.Modules, b.Modules, b.Process.Name)
	return samePID && moved != imageMoved
}

// memoryHistoryOf computes the memory over time from all evidence, in its order.
func memoryHistoryOf(parts []part) *footprint.MemoryHistory {
	parts = slices.Clone(parts)
	sorting.Stable(parts, func(a, b part) int { return cmp.Compare(a.order, b.order) })
	evidence := make([]footprint.NamedCapture, len(parts))
	for i, p := range parts {
		evidence[i] = footprint.NamedCapture{Capture: p.Capture, File: p.file}
	}
	return footprint.HistoryOf(evidence, sameLife)
}

func memoryOf(p part, opt *Options, table *frameTable) Memory {
	m := Memory{File: p.file, Kind: string(p.Kind), TakenAt: p.Snapshots[len(p.Snapshots)-1].WallClock(),
		Memory: *p.Memory}
	m.Heaps, m.Groups = slices.Clone(m.Heaps), slices.Clone(m.Groups)
	var f *frames
	stackOf := func(id capture.StackID, kind capture.SiteKind) *placedStack {
		if id == capture.NoStack {
			return &placedStack{blame: -1}
		}
		if f == nil {
			f = newFrames(table, newStackKeys(p.Capture, newStackNumbers(), nil), opt, p.Process)
		}
		return f.of(id, kind)
	}
	where := func(id capture.StackID) string {
		if id == capture.NoStack {
			return ""
		}
		return f.blamed(id).where()
	}
	for i := range m.Groups {
		if g := &m.Groups[i]; g.Symbol != capture.NoStack {
			if at := table.Frame(table.FrameNumbers(stackOf(g.Symbol, capture.KindHeap).ref)[0]); at.Function != "" {
				g.Key = symbolName(at)
			}
			g.Symbol = capture.NoStack
		}
	}
	samples := func(from []capture.Sample) (list []Sample) {
		bare := 0
		for _, s := range from {
			if s.Stack == capture.NoStack {
				if bare++; bare > bareSamples && !s.Leaked || bare > bareLeaks {
					continue
				}
			}
			at := stackOf(s.Stack, capture.KindHeap)
			sample := Sample{Title: s.Title, Size: s.Size, Note: s.Note, Unreachable: s.Unreachable, Leaked: s.Leaked,
				Signature: at.signatures[capture.KindHeap], Stack: at.ref, Where: where(s.Stack)}
			if s.Address != 0 {
				sample.Address = hexNumber(s.Address)
			}
			list = append(list, sample)
		}
		return list
	}
	kinds := kindsOfStacks(p.Capture)
	for _, c := range p.Memory.Claims {
		kind := kinds[c.Stack]
		at := stackOf(c.Stack, kind)
		claim := ToolClaim{Type: c.Type, Amount: Amount{c.Usage.Count, c.Usage.Bytes},
			MarginBytes: c.UsageMargin, Detached: c.Detached,
			Where: where(c.Stack), Stack: at.ref, Samples: samples(c.Samples)}
		if !c.Detached {
			claim.Signature = at.signatures[kind]
		}
		if c.Percent >= 0 {
			claim.Percent = new(c.Percent)
		}
		m.Claims = append(m.Claims, claim)
	}
	m.Samples = samples(p.Memory.Samples)
	return m
}

// kindsOfStacks says what kind of memory the sites of a capture with each stack are.
func kindsOfStacks(c *capture.Capture) map[capture.StackID]capture.SiteKind {
	kinds := make(map[capture.StackID]capture.SiteKind, len(c.Memory.Claims))
	if len(c.Memory.Claims) == 0 {
		return kinds
	}
	for i := range c.Sites {
		kinds[c.Sites[i].Stack] = c.Sites[i].Kind
	}
	return kinds
}

// NameOfGroup names, for people, what the blocks of a group have in common.
func NameOfGroup(g *capture.BlockGroup) string {
	name := g.Key
	if g.By == capture.BySize {
		name = quantity.Count(g.Size) + " B"
		if g.Heap == 0 && g.Key != "" {
			name += " " + g.Key
		}
	}
	if g.Heap != 0 {
		name += " in " + g.Heap.String()
	}
	return name
}

// symbolName is the name of the place one byte before a frame.
func symbolName(f *Frame) string {
	if f.Offset == hexNumber(1) {
		return f.Name()
	}
	return f.Name() + "+" + f.Offset
}

// growHeaps fills in how heaps have changed since the first evidence that counts any. Of a heap that was not wholly
// walked, or whose busy bytes nobody counted, then or now, their growth is not known.
func (m *Memory) growHeaps(first *Memory) {
	heaps := map[capture.Address]*capture.HeapFacts{}
	for i := range first.Heaps {
		heaps[first.Heaps[i].Handle] = &first.Heaps[i]
	}
	if !slices.ContainsFunc(m.Heaps, func(h capture.HeapFacts) bool { return heaps[h.Handle] != nil }) {
		return // another process, as far as one can see
	}
	for i := range m.Heaps {
		h := &m.Heaps[i]
		was := heaps[h.Handle]
		if was == nil {
			was = &capture.HeapFacts{}
		}
		h.Growth = &capture.HeapGrowth{Reserved: h.Reserved - was.Reserved, Committed: h.Committed - was.Committed}
		isNew := heaps[h.Handle] == nil
		if !hasGap(m, h.Handle) && !hasGap(first, h.Handle) && h.CountsBusy() && (isNew || was.CountsBusy()) {
			h.Growth.Busy = new(h.Busy.Sub(was.Busy))
		}
		if h.Blocks.Count != 0 || was.Blocks.Count != 0 {
			blocks := h.Blocks.Sub(was.Blocks)
			if h.Blocks.Bytes == 0 && h.Blocks.Count > 0 || was.Blocks.Bytes == 0 && was.Blocks.Count > 0 {
				blocks.Bytes = 0 // then or now only their number is known
			}
			h.Growth.Blocks = &blocks
		}
		now, listed := sizesOf(m, h.Handle)
		before, listedBefore := sizesOf(first, h.Handle)
		if listed && (listedBefore || isNew) {
			h.Growth.Sizes = new(now.Sub(before))
		}
	}
}

// sizesOf sums the blocks of a heap that are listed by their size.
func sizesOf(m *Memory, heap capture.Address) (total capture.Usage, ok bool) {
	for i := range m.Groups {
		if g := &m.Groups[i]; g.By == capture.BySize && g.Heap == heap && g.Key == "" && !g.Doubtful {
			total, ok = total.Add(g.Usage), true
		}
	}
	return total, ok
}

func hasGap(m *Memory, heap capture.Address) bool {
	return slices.ContainsFunc(m.Gaps, func(g capture.Gap) bool { return g.Heap == heap || g.Address == heap })
}

// growGroups fills in how groups have changed. A group that the earlier evidence may have left out of its list has no
// growth.
func (m *Memory) growGroups(first *Memory) {
	groups, listed := map[capture.BlockGroup]capture.Usage{}, map[string]bool{}
	for i := range first.Groups {
		groups[groupKey(&first.Groups[i])] = first.Groups[i].Usage
		listed[first.Groups[i].By] = true
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		was, ok := groups[groupKey(g)]
		if ok || listed[g.By] && !slices.Contains(first.Cut, g.By) {
			g.Growth = new(g.Usage.Sub(was))
		}
	}
}

// groupKey identifies a group.
func groupKey(g *capture.BlockGroup) capture.BlockGroup {
	key := capture.BlockGroup{By: g.By, Heap: g.Heap, Size: g.Size, Key: g.Key, Module: g.Module, Offset: g.Offset}
	if g.Module != "" { // symbols name it in one report and not in another
		key.Key = ""
	}
	return key
}

// forgetUnfound clears the signatures of claims and samples that are no finding of the report: no page has such
// signatures.
func (d *draft) forgetUnfound() {
	r, found := d.report, make(map[string]bool, len(d.findings))
	for _, f := range d.findings {
		found[f.Signature] = true
	}
	forget := func(samples []Sample) {
		for i := range samples {
			if !found[samples[i].Signature] {
				samples[i].Signature = ""
			}
		}
	}
	for i := range r.Memory {
		forget(r.Memory[i].Samples)
		for k := range r.Memory[i].Claims {
			c := &r.Memory[i].Claims[k]
			if !found[c.Signature] {
				c.Signature = ""
			}
			forget(c.Samples)
		}
	}
}
