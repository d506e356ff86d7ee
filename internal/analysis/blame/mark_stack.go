package blame

import "strings"

// MarkStack decides the layer of each frame of a stack, innermost first, and which frame is blamed.
func MarkStack(stack []*Class) MarkedStack { return MarkStackInto(nil, stack) }

// MarkStackInto is MarkStack with the memory of marks that are no longer needed.
//
// The thread's start is the run of base frames at the outer end; what allocates is the run of tools, allocators and
// plumbing at the inner end. Behind it the first frame of the team's own is to blame; where there is none, the first of
// a third party, else the first of the system. Plumbing is blamed where there is nothing else, and allocators where
// there is not even plumbing: the outermost of them, nearest to whoever called.
func MarkStackInto(marks []Mark, stack []*Class) MarkedStack {
	p := MarkedStack{Marks: marks[:0], Blame: -1, Origin: -1}
	if len(stack) == 0 {
		return p
	}
	outer := len(stack)
	for outer > 0 && stack[outer-1].Outer.Layer == LayerBase {
		outer--
	}
	inner := 0 // the end of the allocator's run
	for inner < outer {
		if isInner(stack[inner].Inner.Layer) {
			inner++
			continue
		}
		within := withinHeap(stack[inner:outer])
		if within == 0 {
			break
		}
		inner += within
	}
	for i, c := range stack {
		switch {
		case i < inner && !isInner(c.Inner.Layer):
			p.Marks = append(p.Marks, insideHeap)
		case i < inner:
			p.Marks = append(p.Marks, c.Inner)
		case i < outer:
			p.Marks = append(p.Marks, c.Between)
		default:
			p.Marks = append(p.Marks, c.Outer)
		}
	}
	p.Blame = p.toBlame(outer)
	p.Origin = p.Blame
	for i := range outer {
		if l := p.Marks[i].Layer; l != LayerAllocator && l != LayerHeapGrowth && l != LayerTool {
			p.Origin = i
			break
		}
	}
	return p
}

// ntHeap is the rule of the functions by which callers enter the heap, and insideHeap the mark of whatever those call.
const ntHeap = "alloc/ntdll"

var insideHeap = Mark{LayerAllocator, "alloc/inside-ntdll"}

// mostInsideHeap is how many frames the heap has at most between a function that nothing knows and the one by which it
// was entered.
const mostInsideHeap = 4

// withinHeap counts the frames at the inner end of a stack that the heap called, whatever their names: exports stand
// for functions that only symbols name. 0 is none.
func withinHeap(stack []*Class) int {
	for i, c := range stack[:min(len(stack), mostInsideHeap+1)] {
		if c.Inner.Rule == ntHeap {
			return i
		}
		if c.Inner.Layer != LayerSystem || !strings.HasPrefix(c.name, "ntdll!") {
			return 0
		}
	}
	return 0
}

// isInner reports whether a layer belongs to the run at the inner end.
func isInner(l Layer) bool {
	return l == LayerAllocator || l == LayerTool || l == LayerHeapGrowth || l == LayerPlumbing
}

// toBlame looks for the frame to blame before the thread's start.
func (p *MarkedStack) toBlame(outer int) int {
	thirdParty, system, plumbing, rest := -1, -1, -1, 0
	for i := range outer {
		switch p.Marks[i].Layer {
		case LayerApp:
			return i
		case LayerThirdParty:
			if thirdParty < 0 {
				thirdParty = i
			}
		case LayerSystem:
			if system < 0 {
				system = i
			}
		case LayerPlumbing:
			plumbing = i
		default:
			rest = i
		}
	}
	for _, i := range []int{thirdParty, system, plumbing} {
		if i >= 0 {
			return i
		}
	}
	return rest
}
