package compare

import (
	"cmp"
	"context"
	"slices"

	"heapdrift/internal/analysis"
)

// A Node is a function in the tree of callers of two reports together, with what is held below it in the base and in
// the head.
type Node struct {
	Name     string          `json:"name"` // module!function; "" of the root
	Base     analysis.Amount `json:"base"`
	Head     analysis.Amount `json:"head"`
	Children []*Node         `json:"children,omitempty"` // sorted by their bytes in base or head, the most first
	// Others is how many children are left out because they hold too little.
	Others int `json:"others,omitempty"`

	byName map[string]*Node
}

// A Measure is what a tree counts of a site.
type Measure func(*analysis.Site) analysis.Amount

// OutstandingOf is the Measure of what is held at the end.
func OutstandingOf(s *analysis.Site) analysis.Amount { return s.Outstanding }

// GrowthOf is the Measure of growth, as of the instant before the process ended. A site that shrank counts as 0.
func GrowthOf(s *analysis.Site) analysis.Amount {
	g := s.GrowthBeforeExit()
	return analysis.Amount{Count: max(0, g.Count), Bytes: max(0, g.Bytes)}
}

// MergeTrees makes the tree of both reports, from the outermost callers to the allocators, of nodes that hold at least
// 1/share of the whole of base or head. Frames that only one report has are in it as well.
func MergeTrees(ctx context.Context, base, head *analysis.Report, measure Measure, share int64) (*Node, error) {
	root := &Node{}
	for side, r := range []*analysis.Report{base, head} {
		names := make([]string, r.Stacks.FrameCount())
		for i := range r.Sites {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			s := &r.Sites[i]
			if amount := measure(s); s.Kind != "heap-virtual" && amount != (analysis.Amount{}) {
				root.add(side, r.Stacks, names, s.Stack, amount)
			}
		}
	}
	root.close(max(root.Base.Bytes, root.Head.Bytes)/max(1, share), max(root.Base.Count, root.Head.Count)/max(1, share))
	return root, nil
}

// add counts a stack of the base (side 0) or of the head (side 1). names are those of frames, by number, as far as they
// were asked for.
func (n *Node) add(side int, stacks *analysis.Stacks, names []string, stack analysis.StackRef, amount analysis.Amount) {
	n.count(side, amount)
	for _, frame := range slices.Backward(stacks.FrameNumbers(stack)) {
		if names[frame] == "" {
			names[frame] = stacks.Frame(frame).Name()
		}
		n = n.child(names[frame])
		n.count(side, amount)
	}
}

func (n *Node) count(side int, a analysis.Amount) {
	sum := &n.Base
	if side == 1 {
		sum = &n.Head
	}
	sum.Count += a.Count
	sum.Bytes += a.Bytes
}

func (n *Node) child(name string) *Node {
	if c := n.byName[name]; c != nil {
		return c
	}
	if n.byName == nil {
		n.byName = map[string]*Node{}
	}
	c := &Node{Name: name}
	n.byName[name] = c
	n.Children = append(n.Children, c)
	return c
}

// close drops what holds too little and orders the rest.
func (n *Node) close(leastBytes, leastCount int64) {
	n.byName = nil
	all := len(n.Children)
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool {
		return max(c.Base.Bytes, c.Head.Bytes) < leastBytes && max(c.Base.Count, c.Head.Count) < leastCount
	})
	n.Others = all - len(n.Children)
	slices.SortFunc(n.Children, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(max(b.Base.Bytes, b.Head.Bytes), max(a.Base.Bytes, a.Head.Bytes)),
			cmp.Compare(a.Name, b.Name))
	})
	for _, c := range n.Children {
		c.close(leastBytes, leastCount)
	}
}
