package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// NamedPercent is the least share of a heap, in percent, at which a block size or stack that holds it is named in the
// first sentence of a report.
const NamedPercent = 50

// headline sums up evidence that lists no allocations (VMMap, !heap, verifier logs), the most important fact first, and
// says which evidence to take next.
func headline(r *Report) string {
	const more = "; to detect leaks, take a full dump, UMDH logs or a heap trace of the process"
	var said []string
	for _, fact := range []string{describeVerifierLeaks(r), describeLargestGroup(r), describeGrowth(r),
		r.MemoryHistory.DescribeFirstLimit()} {
		if fact != "" {
			said = append(said, fact)
		}
	}
	if len(said) == 0 {
		return nameOf(r) + ": the evidence shows where memory is, but lists no allocations" + more
	}
	return nameOf(r) + ": " + strings.Join(said, "; ") + more
}

// describeVerifierLeaks counts the leaks that Application Verifier reports.
func describeVerifierLeaks(r *Report) string {
	total, bytes := int64(0), int64(0)
	for i := range r.Reported {
		total, bytes = total+r.Reported[i].Count, bytes+r.Reported[i].Bytes
	}
	if total == 0 {
		return ""
	}
	s := "Application Verifier reports " + quantity.Plural(total, "leak")
	if bytes > 0 {
		s += " of " + quantity.Bytes(bytes)
	}
	if top := &r.Reported[0]; top.Where != "" {
		s += fmt.Sprintf(", %s from %s", quantity.Count(top.Count), top.Where)
	}
	return s
}

// describeLargestGroup names the block size that makes up most of a heap; of several such sizes, the one with most
// bytes.
func describeLargestGroup(r *Report) string {
	var top *capture.BlockGroup
	var from *Memory
	part := 0.0
	for i := range r.Memory {
		m := &r.Memory[i]
		for k := range m.Groups {
			g := &m.Groups[k]
			share := PercentOfHeap(&m.Memory, g)
			if share < NamedPercent || top != nil && from.Kind != m.Kind {
				continue
			}
			if top == nil || from != m || g.Usage.Bytes > top.Usage.Bytes { // later evidence of a kind replaces earlier
				top, from, part = g, m, share
			}
		}
	}
	if top == nil {
		return ""
	}
	what, committed := "busy bytes", int64(0)
	if at := slices.IndexFunc(from.Heaps, func(h capture.HeapFacts) bool { return h.Handle == top.Heap }); at >= 0 {
		h := &from.Heaps[at]
		if committed = h.Committed + h.Blocks.Bytes; top.Percent == 0 && h.Busy.Bytes == 0 {
			what = "committed bytes"
		}
	}
	amounts := blocks(top.Usage.Count)
	if committed > 0 {
		amounts += ", " + quantity.Bytes(committed) + " committed"
	}
	s := fmt.Sprintf("blocks of %s B hold %s %% of the %s of heap %s (%s in %s)", quantity.Count(top.Size), percent(part), what,
		top.Heap, quantity.Bytes(top.Usage.Bytes), amounts)
	if where := allocatedBy(from, top.Size); where != "" {
		s += "; one of the blocks was allocated by " + where
	}
	return s
}

// percent prints a share with as many digits as matter.
func percent(share float64) string {
	if share > 99 && share < 100 {
		return fmt.Sprintf("%.2f", share)
	}
	return fmt.Sprintf("%.0f", share)
}

// PercentOfHeap is the share of a heap that the blocks of one size take, in percent: as the evidence prints it, or
// computed from the heap's counts. It is 0 where that is not known.
func PercentOfHeap(m *capture.Memory, g *capture.BlockGroup) float64 {
	if g.By != capture.BySize || g.Heap == 0 || g.Doubtful {
		return 0
	}
	if g.Percent > 0 {
		return min(g.Percent, 100)
	}
	at := slices.IndexFunc(m.Heaps, func(h capture.HeapFacts) bool { return h.Handle == g.Heap })
	if at < 0 || m.Heaps[at].Doubtful {
		return 0
	}
	h := &m.Heaps[at]
	whole := h.Busy.Bytes
	// no busy bytes: take committed and virtual blocks, unless the bytes of the virtual blocks are unknown
	if whole == 0 && (h.Blocks.Count == 0 || h.Blocks.Bytes > 0) {
		whole = h.Committed + h.Blocks.Bytes
	}
	if whole <= 0 || g.Usage.Bytes > whole {
		return 0
	}
	return 100 * float64(g.Usage.Bytes) / float64(whole)
}

// allocatedBy names the function that allocated a block of a size, where the evidence shows the stack of such a block.
func allocatedBy(m *Memory, size int64) string {
	for i := range m.Samples {
		if s := &m.Samples[i]; s.Size == size && s.Where != "" {
			return s.Where
		}
	}
	return ""
}

// describeGrowth names the heap that grew most; where no heap can be compared, the block size that grew most.
func describeGrowth(r *Report) string {
	for i := len(r.Memory) - 1; i >= 0; i-- {
		m := &r.Memory[i]
		compared := slices.ContainsFunc(m.Heaps, func(h capture.HeapFacts) bool { return h.Growth != nil })
		var top *capture.HeapFacts
		for k := range m.Heaps {
			if h := &m.Heaps[k]; h.Growth != nil && !h.Doubtful && (top == nil || grown(h.Growth) > grown(top.Growth)) {
				top = h
			}
		}
		switch {
		case top != nil && grown(top.Growth) > 0:
			return fmt.Sprintf("heap %s grew from the first snapshot to the last: %s", top.Handle, HeapChangeText(top))
		case compared:
			return "no heap grew from the first snapshot to the last"
		}
		if s := describeGroupGrowth(m); s != "" {
			return s
		}
	}
	return ""
}

func describeGroupGrowth(m *Memory) string {
	var top *capture.BlockGroup
	for k := range m.Groups {
		if g := &m.Groups[k]; g.By == capture.BySize && g.Growth != nil && !g.Doubtful && g.Growth.Bytes > 0 &&
			(top == nil || g.Growth.Bytes > top.Growth.Bytes) {
			top = g
		}
	}
	if top == nil {
		return ""
	}
	return fmt.Sprintf("blocks of %s grew by %s in %s from the first snapshot to the last", NameOfGroup(top),
		quantity.Bytes(top.Growth.Bytes), blocks(top.Growth.Count))
}

// leastVirtualBlock is assumed as the size of a virtual block of unknown size: about the least possible.
const leastVirtualBlock = 508 << 10

// grown is the growth of a heap in bytes, by its largest figure.
func grown(g *capture.HeapGrowth) int64 {
	most := g.Committed
	for _, u := range []*capture.Usage{g.Busy, g.Blocks, g.Sizes} {
		if u != nil {
			most = max(most, u.Bytes)
		}
	}
	if g.Blocks != nil && g.Blocks.Bytes == 0 {
		most = max(most, min(g.Blocks.Count, 1<<40)*leastVirtualBlock)
	}
	return most
}

// HeapChangeText lists the known changes of a heap.
func HeapChangeText(h *capture.HeapFacts) string {
	g := h.Growth
	said := []string{"committed " + signed(quantity.Bytes(g.Committed), g.Committed)}
	if g.Blocks != nil && *g.Blocks != (capture.Usage{}) {
		change := fmt.Sprintf("%s to %s", quantity.Count(h.Blocks.Count-g.Blocks.Count), quantity.Count(h.Blocks.Count))
		if g.Blocks.Bytes != 0 {
			change += "; " + signed(quantity.Bytes(g.Blocks.Bytes), g.Blocks.Bytes)
		}
		said = append(said,
			fmt.Sprintf("virtual blocks %s (%s)", signed(quantity.Count(g.Blocks.Count), g.Blocks.Count), change))
	}
	if g.Busy != nil {
		said = append(said, "busy "+signed(quantity.Bytes(g.Busy.Bytes), g.Busy.Bytes))
	} else if g.Sizes != nil {
		said = append(said, "listed sizes "+signed(quantity.Bytes(g.Sizes.Bytes), g.Sizes.Bytes))
	}
	return strings.Join(said, ", ")
}

// signed puts a plus before a positive number; a negative one has its minus already.
func signed(text string, n int64) string {
	if n > 0 {
		return "+" + text
	}
	return text
}

// ReportedLeaks are the leaks with the same title and stack that another tool reports. Only Application Verifier does.
// The verdict does not use them.
type ReportedLeaks struct {
	Title     string `json:"title"`           // "VERIFIER STOP 900"
	Where     string `json:"where,omitempty"` // the blamed frame, for sentences
	Signature string `json:"signature,omitempty"`
	Amount
	Addresses []string `json:"addresses,omitempty"` // of the first ten leaks that have one
	Note      string   `json:"note"`                // what the tool says of them
	Stack     StackRef `json:"stack"`
	File      string   `json:"file"` // name of the file of the evidence
}

// The limits on what a report lists of leaks that tools report.
const (
	mostReported  = 1000
	mostAddresses = 10
)

// reported collects the leaks that tools report, most bytes and blocks first. A stop that two logs show counts once.
func reported(list []Memory) []ReportedLeaks {
	var out []ReportedLeaks
	at, seen := map[string]int{}, map[string]bool{}
	for i := range list {
		m := &list[i]
		for k := range m.Samples {
			s := &m.Samples[k]
			same := s.Title + s.Address + s.Note
			if !s.Leaked || s.Address != "" && seen[same] {
				continue
			}
			seen[same] = true
			key := s.Title + " " + s.Signature
			if s.Signature == "" {
				key = fmt.Sprintf("%d %d", i, k)
			}
			n, ok := at[key]
			if !ok {
				if len(out) == mostReported { // the list is full: further leaks count in its last entry
					n = mostReported - 1
				} else {
					n = len(out)
					out = append(out, ReportedLeaks{Title: s.Title, Where: s.Where, Signature: s.Signature, Note: s.Note,
						Stack: s.Stack, File: m.File})
				}
				at[key] = n
			}
			r := &out[n]
			r.Count, r.Bytes = r.Count+1, r.Bytes+s.Size
			if s.Address != "" && len(r.Addresses) < mostAddresses {
				r.Addresses = append(r.Addresses, s.Address)
			}
		}
	}
	sorting.Stable(out, func(a, b ReportedLeaks) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count))
	})
	return out
}
