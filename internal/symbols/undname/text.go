package undname

// A text is a piece of the output: the index of a node. Pieces are put together without copying, so a back
// reference costs nothing however often it is repeated; 0 is the empty text.
type text int32

// A node is a leaf, or two pieces in their order. A node that is neither is a hole, to be filled later.
type node struct {
	leaf        string
	left, right text
}

// newNode stores a node. The arena is bounded by the name's length, since every step consumes some of it.
func (d *decoder) newNode(n node) text {
	d.nodes = append(d.nodes, n)
	return text(len(d.nodes) - 1)
}

// lit is a literal.
func (d *decoder) lit(s string) text {
	if s == "" {
		return 0
	}
	return d.newNode(node{leaf: s})
}

// cat puts pieces one after the other.
func (d *decoder) cat(pieces ...text) text {
	var all text
	for _, p := range pieces {
		switch {
		case p == 0:
		case all == 0:
			all = p
		default:
			all = d.newNode(node{left: all, right: p})
		}
	}
	return all
}

// before puts a literal in front of a piece, after behind it.
func (d *decoder) before(s string, t text) text { return d.cat(d.lit(s), t) }
func (d *decoder) after(t text, s string) text  { return d.cat(t, d.lit(s)) }

// words puts a blank between two pieces that are not empty, unless there is one.
func (d *decoder) words(a, b text) text {
	if a == 0 || b == 0 || d.firstByte(b) == ' ' {
		return d.cat(a, b)
	}
	return d.cat(a, d.lit(" "), b)
}

// hole is a piece that is not known yet: a declarator's parameters follow the type returned, which has to be put
// around them. It counts as not empty.
func (d *decoder) hole() text { return d.newNode(node{}) }

func (d *decoder) fill(hole, t text) { d.nodes[hole].left = t }

// firstByte is the byte that t begins with, or 0.
func (d *decoder) firstByte(t text) byte {
	for t != 0 {
		if n := &d.nodes[t]; n.leaf != "" {
			return n.leaf[0]
		}
		t = d.nodes[t].left
	}
	return 0
}

// lastByte is the byte that t ends in, or 0.
func (d *decoder) lastByte(t text) byte {
	for t != 0 {
		n := &d.nodes[t]
		switch {
		case n.leaf != "":
			return n.leaf[len(n.leaf)-1]
		case n.right != 0:
			t = n.right
		default:
			t = n.left
		}
	}
	return 0
}

// maxOutput bounds a declaration in bytes. Ten back references to names that hold ten back references each make
// output that grows exponentially with the name.
const maxOutput = 64 << 10

// appendText writes t behind dst. It is false when that takes more than maxOutput bytes.
func (d *decoder) appendText(dst []byte, t text) ([]byte, bool) {
	from := len(dst)
	limit := from + maxOutput
	steps := 2 * maxOutput // of nodes, since holes may be empty
	d.stack = append(d.stack[:0], t)
	for len(d.stack) > 0 {
		t := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		for t != 0 {
			n := &d.nodes[t]
			if steps--; steps < 0 {
				return dst, false
			}
			if n.leaf != "" {
				leaf := n.leaf
				if leaf[0] == ' ' && len(dst) > from && dst[len(dst)-1] == ' ' {
					leaf = leaf[1:] // blanks never follow each other
				}
				if dst = append(dst, leaf...); len(dst) > limit {
					return dst, false
				}
				break
			}
			if n.right != 0 {
				d.stack = append(d.stack, n.right)
			}
			t = n.left
		}
	}
	return dst, true
}
