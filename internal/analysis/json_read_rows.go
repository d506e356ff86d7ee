package analysis

import (
	"math"

	"heapdrift/internal/analysis/blame"
)

func decodeFrame(t *rowText, text []byte, f *Frame) error {
	return decode(t, text, f, (*rowText).frame)
}

func (t *rowText) frame(f *Frame) {
	t.fields(func(name []byte) {
		switch string(name) {
		case "module":
			f.Module = t.often()
		case "function":
			f.Function = t.string()
		case "offset":
			f.Offset = t.string()
		case "address":
			f.Address = t.string()
		case "file":
			f.File = t.often()
		case "line":
			f.Line = uint32(t.uint(math.MaxUint32))
		case "inline":
			f.Inline = t.bool()
		case "layer":
			f.Layer = blame.Layer(t.often())
		case "rule":
			f.Rule = t.often()
		case "type":
			f.Type = t.often()
		case "approx":
			f.Approx = t.bool()
		default:
			t.refused = true
		}
	})
}

func decodeStack(t *rowText, text []byte, numbers *[]uint32) error {
	return decode(t, text, numbers, func(t *rowText, numbers *[]uint32) {
		*numbers = listOf(t, func() uint32 { return uint32(t.uint(math.MaxUint32)) })
	})
}

func decodeSite(t *rowText, text []byte, s *Site) error { return decode(t, text, s, (*rowText).site) }

func (t *rowText) site(s *Site) {
	t.fields(func(name []byte) {
		switch string(name) {
		case "signature":
			s.Signature = t.often()
		case "kind":
			s.Kind = t.often()
		case "heap":
			s.Heap = t.often()
		case "outstanding":
			t.amount(&s.Outstanding)
		case "growth":
			s.Growth = pointerTo(t, t.amount)
		case "unreachable":
			s.Unreachable = pointerTo(t, t.amount)
		case "series":
			s.Series = listOf(t, t.point)
		case "score":
			s.Score = pointerTo(t, func(v *float64) { *v = t.float() })
		case "verdict":
			s.Verdict = Class(t.often())
		case "blame":
			s.Blame = pointerTo(t, t.blame)
		case "flags":
			s.Flags = listOf(t, t.often)
		case "traces":
			s.Traces = listOf(t, t.string)
		case "stack":
			s.Stack = t.stackRef()
		case "aliases":
			s.AliasStacks = listOf(t, t.stackRef)
		default: // Lifetimes and Rows, which sites of traces have
			t.refused = true
		}
	})
}

func (t *rowText) amount(a *Amount) {
	t.fields(func(name []byte) { t.amountField(name, a) })
}

func (t *rowText) amountField(name []byte, a *Amount) {
	switch string(name) {
	case "count":
		a.Count = t.int()
	case "bytes":
		a.Bytes = t.int()
	default:
		t.refused = true
	}
}

func (t *rowText) point() (p Point) {
	t.fields(func(name []byte) {
		if string(name) == "at_ns" {
			p.AtNS = t.int()
			return
		}
		t.amountField(name, &p.Amount)
	})
	return p
}

func (t *rowText) blame(b *Blame) {
	t.fields(func(name []byte) {
		switch string(name) {
		case "module":
			b.Module = t.often()
		case "function":
			b.Function = t.often()
		case "offset":
			b.Offset = t.often()
		case "file":
			b.File = t.often()
		case "line":
			b.Line = uint32(t.uint(math.MaxUint32))
		default:
			t.refused = true
		}
	})
}

// stackRef takes the number of a stack, −1 for none.
func (t *rowText) stackRef() StackRef {
	n := t.int()
	if n < -1 || n >= math.MaxInt32 {
		t.refused = true
		return 0
	}
	return StackRef(n + 1)
}
