package dump

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// Limits of what is listed of each way of grouping; a capture says which of them were cut.
const (
	listedGroups   = 200
	listedPerHeap  = 20
	countedGroups  = 1 << 17 // different ones of a way; a way that has more is cut
	countedTexts   = 1 << 14 // different beginnings; of more only that they are text is counted
	leastOfContent = 4       // blocks that begin alike, before their beginning is shown: a beginning of one may be a secret
)

// A grouping is what a block has in common with others.
type grouping struct {
	by     string
	heap   int32 // of BySize in one heap, else −1
	size   uint64
	module int32  // of ByType
	offset uint64 // in the module
	text   string // of ByContent
}

// A tally counts the blocks of a grouping.
type tally struct {
	usage, unreachable capture.Usage
	first              uint64 // the lowest address
}

func (t *tally) add(b *block, isUnreachable bool) {
	if t.usage.Count == 0 || b.address < t.first {
		t.first = b.address
	}
	one := capture.Usage{Count: 1, Bytes: int64(b.size)}
	t.usage = t.usage.Add(one)
	if isUnreachable {
		t.unreachable = t.unreachable.Add(one)
	}
}

// tallies count blocks by grouping.
type tallies struct {
	groups map[grouping]*tally
	n      map[string]int  // of groups, by way
	full   map[string]bool // ways that have more
}

func newTallies() *tallies {
	return &tallies{map[grouping]*tally{}, map[string]int{}, map[string]bool{}}
}

func (t *tallies) count(g grouping, b *block, isUnreachable bool) {
	at := t.groups[g]
	switch {
	case at != nil:
		at.add(b, isUnreachable)
		return
	case g.by == capture.ByContent && t.n[g.by] >= countedTexts:
		g.text = otherText(g.text)
		if at = t.groups[g]; at != nil {
			at.add(b, isUnreachable)
			return
		}
	case t.n[g.by] >= countedGroups:
		t.full[g.by] = true
		return
	}
	at = &tally{}
	t.groups[g], t.n[g.by] = at, t.n[g.by]+1
	at.add(b, isUnreachable)
}

// take adds what another goroutine counted.
func (t *tallies) take(other *tallies) {
	for g, o := range other.groups {
		t.join(g, o)
	}
	for way := range other.full {
		t.full[way] = true
	}
}

func (t *tallies) join(g grouping, o *tally) {
	at := t.groups[g]
	if at == nil {
		t.groups[g] = new(*o)
		return
	}
	at.usage, at.unreachable, at.first = at.usage.Add(o.usage), at.unreachable.Add(o.unreachable), min(at.first, o.first)
}

// otherText is what beginnings are counted as that are not told apart.
func otherText(text string) string {
	switch text[0] {
	case '"':
		return "other text"
	case 'U':
		return "other UTF-16 text"
	}
	return text
}

// A grouper looks at what busy blocks begin with.
type grouper struct {
	memory  memory
	bits    int
	blocks  *blocks
	owners  []owner
	modules *capture.ModuleMap
	bases   []uint64 // of modules
	reach   *reach   // nil where nobody looked
	bySize  bool     // contents are not looked at
}

// beginning is how much of a block is looked at.
const beginning = 32

// run counts all blocks on several cores.
func (g *grouper) run(ctx context.Context) (*tallies, error) {
	parts := make([]*tallies, markers)
	group, ctx := errgroup.WithContext(ctx)
	for k := range parts {
		group.Go(func() error {
			parts[k] = newTallies()
			v := &view{memory: g.memory}
			n := 0
			for ordinal, b := range g.blocks.all() {
				if ordinal>>16%markers != k { // stretches, so that each goes through memory in order
					continue
				}
				if n++; n%4096 == 0 && ctx.Err() != nil {
					return fmt.Errorf("dump: %w", context.Cause(ctx))
				}
				g.count(parts[k], v, ordinal, &b)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, p := range parts[1:] {
		parts[0].take(p)
	}
	return parts[0], nil
}

func (g *grouper) count(t *tallies, v *view, ordinal int, b *block) {
	isUnreachable := g.reach != nil && !g.reach.isMarked(ordinal)
	t.count(grouping{by: capture.BySize, heap: -1, size: b.size}, b, isUnreachable)
	t.count(grouping{by: capture.BySize, heap: g.owners[b.owner].heap, size: b.size}, b, isUnreachable)
	if g.bySize {
		return
	}
	head := v.bytes(b.address, min(b.size, beginning))
	text := contentOf(head)
	if module, offset, ok := g.pointsInto(head); ok && (g.bits == 64 || text == "") { // four letters are an address, too
		t.count(grouping{by: capture.ByType, heap: -1, module: module, offset: offset}, b, isUnreachable)
	} else if text != "" {
		t.count(grouping{by: capture.ByContent, heap: -1, text: text}, b, isUnreachable)
	}
}

// pointsInto finds the place in a module that the first word of a block is the address of.
func (g *grouper) pointsInto(head []byte) (module int32, offset uint64, ok bool) {
	var word uint64
	switch {
	case g.bits == 64 && len(head) >= 8:
		word = binary.LittleEndian.Uint64(head)
	case g.bits == 32 && len(head) >= 4:
		word = uint64(binary.LittleEndian.Uint32(head))
	}
	if word < 1<<16 || word%uint64(g.bits/8) != 0 { // nothing is loaded there, and no table lies so
		return 0, 0, false
	}
	at := g.modules.Find(word)
	if at < 0 {
		return 0, 0, false
	}
	return int32(at), word - g.bases[at], true
}

// contentOf says what a block begins with, where that can be told: text with its first letters, or nothing but zeros.
func contentOf(head []byte) string {
	const letters = 8
	if len(head) < letters {
		return ""
	}
	switch zero := trimZeros(head); {
	case len(zero) == 0:
		return "zeros"
	case isText(head[:letters]):
		return strconv.Quote(string(head[:letters])) + "…"
	case len(head) >= 2*letters && isWide(head[:2*letters]):
		text := make([]byte, letters)
		for i := range text {
			text[i] = head[2*i]
		}
		return "UTF-16 " + strconv.Quote(string(text)) + "…"
	}
	return ""
}

func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

func isText(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

func isWide(b []byte) bool {
	for i := 0; i < len(b); i += 2 {
		if b[i+1] != 0 || !isText(b[i:i+1]) {
			return false
		}
	}
	return true
}

// groups lists the largest groupings of each way, and the ways that were cut.
func (g *grouper) groups(counted *tallies, c *capture.Capture) (list []capture.BlockGroup, cut []string) {
	t := counted.groups
	for key, at := range t {
		if other := otherText(key.text + " "); key.by == capture.ByContent && at.usage.Count < leastOfContent && other != key.text+" " { // it shows nothing but itself
			delete(t, key)
			counted.join(grouping{by: capture.ByContent, heap: -1, text: other}, at)
		}
	}
	ways := map[string][]grouping{}
	for key := range t {
		way := key.by
		if key.heap >= 0 {
			way += strconv.Itoa(int(key.heap))
		}
		ways[way] = append(ways[way], key)
	}
	cut = slices.Sorted(maps.Keys(counted.full))
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		keys := ways[way]
		sorting.Stable(keys, func(a, b grouping) int {
			return cmp.Or(cmp.Compare(t[b].usage.Bytes, t[a].usage.Bytes), cmp.Compare(t[b].usage.Count, t[a].usage.Count),
				compareGroupings(a, b))
		})
		limit := listedGroups
		if keys[0].heap >= 0 {
			limit = listedPerHeap
		}
		if len(keys) > limit {
			keys = keys[:limit]
			if !slices.Contains(cut, keys[0].by) {
				cut = append(cut, keys[0].by)
			}
		}
		for _, key := range keys {
			list = append(list, g.group(key, t[key], c))
		}
	}
	return list, cut
}

func (g *grouper) group(key grouping, t *tally, c *capture.Capture) capture.BlockGroup {
	out := capture.BlockGroup{By: key.by, Size: int64(key.size), Key: key.text, Usage: t.usage,
		Example: capture.Address(t.first)}
	if g.reach != nil {
		out.Unreachable = new(t.unreachable)
	}
	if key.heap >= 0 {
		out.Heap = capture.Address(c.Heaps[key.heap].Handle)
	}
	if key.by == capture.ByType {
		m := &c.Modules[key.module]
		out.Module, out.Offset = m.FileName(), capture.Address(key.offset)
		out.Key = out.Module + "+" + out.Offset.String()
		out.Symbol = c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddAddress(m.Base + key.offset + 1)})
	}
	return out
}

func compareGroupings(a, b grouping) int {
	return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.heap, b.heap), cmp.Compare(a.size, b.size),
		cmp.Compare(a.module, b.module),
		cmp.Compare(a.offset, b.offset), cmp.Compare(a.text, b.text))
}
