package analysis

import (
	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
)

// A blamedStack is all that blame says of a stack.
type blamedStack struct {
	blame.Signature
	blame.Attributes
	origin *Blame
	// outline is the signature of the stack in evidence without inlined calls, such as UMDH text or public symbols; ""
	// where it is the same.
	outline string
}

// describe computes what only few stacks are asked for. The rows of the stack must exist.
func (f *frames) describe(s *scratch, id capture.StackID, kind capture.SiteKind) blamedStack {
	p := f.place(s, id)
	t := blamedStack{Signature: s.signer.Sign(kind.String(), s.classes, p), Attributes: p.Attributes(s.classes)}
	if p.Origin >= 0 {
		t.origin = f.table.blame(s.rows[p.Origin])
	}
	var calls []*blame.Class
	for i, row := range s.rows {
		if f.table.rows[row].flags&rowInline == 0 {
			calls = append(calls, s.classes[i])
		}
	}
	if len(calls) < len(s.rows) {
		if outline := blame.SignatureID(kind.String(), calls, blame.MarkStack(calls)); outline != t.ID {
			t.outline = outline
		}
	}
	return t
}

// blamed is the frame that the memory of a placed stack is counted against, as reports name it; nil for none.
func (f *frames) blamed(id capture.StackID) *Blame {
	at := &f.placed[id]
	if at.blame <= 0 {
		return nil
	}
	return f.table.blame(f.table.FrameNumbers(at.ref)[at.blame-1])
}

// blame names a frame to which memory is attributed.
func (s *Stacks) blame(number uint32) *Blame {
	r := &s.rows[number]
	b := &Blame{Module: s.texts[r.module], Function: s.texts[r.function], File: s.texts[r.file], Line: r.line}
	if r.flags&rowHasOffset != 0 {
		b.Offset = hexNumber(r.offset)
	}
	return b
}

// BlamedFrameIndex is the index of the blamed frame: the first of the team's own frames behind the allocator's, else
// the first of any other, as blame.MarkStack chooses it. It is −1 for an empty stack.
func BlamedFrameIndex(stack []*Frame) int {
	return blameFrame(len(stack), func(i int) Layer { return stack[i].Layer })
}

// BlamedFrame is the frame of a stack that BlamedFrameIndex chooses; nil for none.
func (s *Stacks) BlamedFrame(ref StackRef) *Frame {
	numbers := s.FrameNumbers(ref)
	i := blameFrame(len(numbers), func(i int) Layer { return s.marks[s.rows[numbers[i]].mark].Layer })
	if i < 0 {
		return nil
	}
	return s.Frame(numbers[i])
}

func blameFrame(n int, layer func(int) Layer) int {
	outer := n
	for outer > 0 && layer(outer-1) == LayerBase {
		outer--
	}
	first, rest := map[Layer]int{}, 0
	for i := range outer {
		switch l := layer(i); l {
		case blame.LayerApp, "": // in reports of before there were layers of origin
			return i
		case blame.LayerThirdParty, blame.LayerSystem:
			if _, ok := first[l]; !ok {
				first[l] = i
			}
		case blame.LayerPlumbing:
			first[l] = i
		default:
			rest = i
		}
	}
	for _, layer := range []Layer{blame.LayerThirdParty, blame.LayerSystem, blame.LayerPlumbing} {
		if i, ok := first[layer]; ok {
			return i
		}
	}
	return min(rest, n-1)
}
