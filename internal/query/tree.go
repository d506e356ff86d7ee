package query

import (
	"cmp"
	"context"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/score"
)

// TreeSchema names the layout of Tree as JSON.
const TreeSchema = "heapdrift.tree/v1"

// A Tree is the call tree of the stacks of a selection, outermost calls first, in columns: element i of each list of
// Nodes is node i, in pre-order. A program that draws it adds up Self from the leaves to the root.
type Tree struct {
	Schema  string          `json:"schema"`
	Metric  string          `json:"metric"`  // name of the Metric that Self counts
	Unit    string          `json:"unit"`    // "bytes" or "blocks"
	Names   []string        `json:"names"`   // distinct function names
	Layers  []string        `json:"layers"`  // in the order of Names: the layer of the function
	Places  []string        `json:"places"`  // in the order of Names: the file and line with the most of it
	Classes []string        `json:"classes"` // distinct classes that nodes have
	Nodes   TreeNodes       `json:"nodes"`
	LeftOut analysis.Amount `json:"left_out"` // what shrank, and is not in the tree: it has no negative widths
}

// TreeNodes are the nodes of a tree. In the tree of two runs, Before and After replace Self.
type TreeNodes struct {
	Depth  []int32 `json:"depth"`            // 0 for the outermost calls
	Name   []int32 `json:"name"`             // index in Tree.Names
	Class  []int32 `json:"class"`            // index in Tree.Classes: the class that most of the node and its callees has
	Self   []int64 `json:"self,omitempty"`   // what the node has without its callees, in Tree.Unit
	Blocks []int64 `json:"blocks,omitempty"` // number of blocks of Self
	Before []int64 `json:"before,omitempty"` // Self in the base
	After  []int64 `json:"after,omitempty"`  // Self in the head
}

// layerNames are the parts of stacks as trees tell them apart.
var layerNames = map[blame.Layer]string{
	blame.LayerApp: "own", blame.LayerThirdParty: "third-party", blame.LayerSystem: "system",
	blame.LayerPlumbing:  "runtime",
	blame.LayerAllocator: "allocator", blame.LayerTool: "allocator", blame.LayerHeapGrowth: "allocator",
	blame.LayerBase: "base",
}

// A Direction says which way a tree grows from a function.
type Direction int

// The directions.
const (
	Whole   Direction = iota // from the outermost calls
	Callers                  // from the function to who calls it
	Callees                  // from the function to what it calls
)

// A TreeQuestion chooses a tree of a selection.
type TreeQuestion struct {
	Metric
	Blocks    bool // Self counts blocks, not bytes
	Direction Direction
	Function  string // module!function at which Callers and Callees begin
}

// Tree makes the tree of a selection.
func (r *Result) Tree(ctx context.Context, q TreeQuestion) (*Tree, error) {
	b := newTreeBuilder(r.index)
	b.tree.Metric, b.tree.Unit = q.Name, "bytes"
	if q.Blocks {
		b.tree.Unit = "blocks"
	}
	for i := range r.Sites {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var n Numbers
		n.add(&r.Sites[i].Amounts)
		amount := q.of(&n)
		value := amount.Bytes
		if q.Blocks {
			value = amount.Count
		}
		path, ok := b.path(r.site(i), q)
		switch {
		case !ok || value == 0:
		case value < 0:
			b.tree.LeftOut = b.tree.LeftOut.Plus(amount)
		default:
			b.add(path, value, max(0, amount.Count), r.Sites[i].Class)
		}
	}
	return b.close(), nil
}

// Union makes the tree of two runs together: Before is what a node has without its callees in base, After in head. What
// shrank counts as 0.
func Union(ctx context.Context, base, head *Index, metric string) (*Tree, error) {
	b := newTreeBuilder(base)
	b.compares = true
	b.tree.Unit = "bytes"
	for side, x := range []*Index{base, head} {
		b.read(x)
		m, err := x.Metric(metric)
		if err != nil {
			return nil, err
		}
		b.tree.Metric = m.Name
		r, err := x.Ask(ctx, Selection{}, nil)
		if err != nil {
			return nil, err
		}
		for i := range r.Sites {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			var n Numbers
			n.add(&r.Sites[i].Amounts)
			path, _ := b.path(r.site(i), TreeQuestion{Metric: m})
			if amount := m.of(&n); amount.Bytes > 0 {
				leaf := b.add(path, amount.Bytes, max(0, amount.Count), r.Sites[i].Class)
				b.nodes[leaf].sides[side] += amount.Bytes
			} else {
				b.tree.LeftOut = b.tree.LeftOut.Plus(amount)
			}
		}
	}
	return b.close(), nil
}

// A treeBuilder makes a tree.
type treeBuilder struct {
	index    *Index
	tree     *Tree
	names    map[string]int32
	ofFrame  []int32 // by number of frame, its name; −1 for none yet
	scratch  []int32
	nodes    []treeNode
	child    map[edge]int32
	compares bool
}

type edge struct{ parent, name int32 }

type treeNode struct {
	name, parent int32
	depth        int32
	self, blocks int64
	sides        [2]int64 // before and after, of a comparison
	total        int64
	classes      []int64 // by Tree.Classes
}

func newTreeBuilder(x *Index) *treeBuilder {
	b := &treeBuilder{tree: &Tree{Schema: TreeSchema}, names: map[string]int32{}, child: map[edge]int32{}}
	b.read(x)
	for _, c := range score.Classes {
		b.tree.Classes = append(b.tree.Classes, string(c))
	}
	b.name("all", "", "")
	b.nodes = append(b.nodes, treeNode{parent: -1, classes: make([]int64, len(score.Classes))})
	return b
}

// read makes an Index the one whose stacks come.
func (b *treeBuilder) read(x *Index) {
	b.index, b.ofFrame = x, make([]int32, len(x.names))
	for i := range b.ofFrame {
		b.ofFrame[i] = -1
	}
}

func (b *treeBuilder) name(text, layer, place string) int32 {
	n, ok := b.names[text]
	if !ok {
		n = int32(len(b.tree.Names))
		b.names[text] = n
		b.tree.Names, b.tree.Layers, b.tree.Places = append(b.tree.Names, text), append(b.tree.Layers, layer),
			append(b.tree.Places, place)
	}
	return n
}

func (b *treeBuilder) frame(number uint32) int32 {
	if n := b.ofFrame[number]; n >= 0 {
		return n
	}
	f := b.index.report.Stacks.Frame(number)
	n := b.name(b.index.names[number], layerNames[f.Layer], f.FileLine())
	b.ofFrame[number] = n
	return n
}

// path is the names from the root to the leaf of a site; ok is false where it has no part in the tree.
func (b *treeBuilder) path(s *analysis.Site, q TreeQuestion) (path []int32, ok bool) {
	numbers := b.index.report.Stacks.FrameNumbers(s.Stack)
	b.scratch = b.scratch[:0]
	switch q.Direction {
	case Callers: // from the outermost call of the function, so that what recurses counts once
		at := lastOf(numbers, b.index.names, q.Function)
		if at < 0 {
			return nil, false
		}
		for _, n := range numbers[at:] {
			b.scratch = append(b.scratch, b.frame(n))
		}
		return b.scratch, true
	case Callees:
		at := lastOf(numbers, b.index.names, q.Function)
		if at < 0 {
			return nil, false
		}
		numbers = numbers[:at+1]
	}
	for _, n := range slices.Backward(numbers) {
		b.scratch = append(b.scratch, b.frame(n))
	}
	if len(numbers) == 0 {
		b.scratch = append(b.scratch, b.name("[no stack]", "", ""))
	}
	return b.scratch, true
}

func lastOf(numbers []uint32, names []string, function string) int {
	for i, n := range slices.Backward(numbers) {
		if names[n] == function {
			return i
		}
	}
	return -1
}

// add counts a stack and returns the place of its leaf.
func (b *treeBuilder) add(path []int32, value, blocks int64, class analysis.Class) int32 {
	at, c := int32(0), max(0, class.Gravity())
	b.nodes[0].count(value, c)
	for _, name := range path {
		next, ok := b.child[edge{at, name}]
		if !ok {
			next = int32(len(b.nodes))
			b.child[edge{at, name}] = next
			b.nodes = append(b.nodes,
				treeNode{name: name, parent: at, depth: b.nodes[at].depth + 1, classes: make([]int64, len(score.Classes))})
		}
		at = next
		b.nodes[at].count(value, c)
	}
	b.nodes[at].self += value
	b.nodes[at].blocks += blocks
	return at
}

func (n *treeNode) count(value int64, class int) {
	n.total += value
	n.classes[class] += value
}

// close lays the nodes out in pre-order, the widest child first.
func (b *treeBuilder) close() *Tree {
	children := make([][]int32, len(b.nodes))
	for i := 1; i < len(b.nodes); i++ {
		p := b.nodes[i].parent
		children[p] = append(children[p], int32(i))
	}
	out := &b.tree.Nodes
	stack := []int32{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := &b.nodes[i]
		class := 0
		for c := range n.classes {
			if n.classes[c] > n.classes[class] {
				class = c
			}
		}
		out.Depth, out.Name, out.Class = append(out.Depth, n.depth), append(out.Name, n.name), append(out.Class, int32(class))
		if b.compares {
			out.Before, out.After = append(out.Before, n.sides[0]), append(out.After, n.sides[1])
		} else {
			out.Self = append(out.Self, n.self)
		}
		out.Blocks = append(out.Blocks, n.blocks)
		kids := children[i]
		slices.SortFunc(kids, func(a, c int32) int { // the last one is popped first
			return cmp.Or(cmp.Compare(b.nodes[a].total, b.nodes[c].total),
				cmp.Compare(b.tree.Names[b.nodes[c].name], b.tree.Names[b.nodes[a].name]))
		})
		stack = append(stack, kids...)
	}
	return b.tree
}
