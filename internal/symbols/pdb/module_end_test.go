package pdb

import "testing"

// A scope ends behind the record that ends it, which comes behind its own. Records are read as far as they are whole.
func TestEndOfAScope(t *testing.T) {
	record := func(length, kind uint16, body int) []byte {
		b := le.AppendUint16(le.AppendUint16(nil, length), kind)
		return append(b, make([]byte, body)...)
	}
	m := &module{symbols: record(2, symEnd, 0)}                  // at 0
	m.symbols = append(m.symbols, record(6, 0x1110, 4)...)       // at 4
	m.symbols = append(m.symbols, record(2, symEnd, 0)...)       // at 12
	m.symbols = append(m.symbols, record(2, symProcIDEnd, 0)...) // at 16
	m.symbols = append(m.symbols, record(9, symEnd, 0)...)       // at 20, cut off
	for _, test := range []struct {
		at, end, want uint32
		ok            bool
	}{
		{4, 12, 16, true}, {4, 16, 20, true}, {12, 12, 0, false}, {13, 12, 0, false}, {11, 12, 16, true}, {0, 4, 12, false}, {4, 20, 0, false}, {4, 99, 0, false},
	} {
		got, ok := m.end(test.at, test.end)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%d to %d: %d, %t", test.at, test.end, got, ok)
		}
	}
	for _, test := range []struct {
		at   uint32
		body int
		next uint32
		ok   bool
	}{{0, 0, 4, true}, {4, 4, 12, true}, {16, 0, 20, true}, {20, 0, 0, false}, {21, 0, 0, false}, {24, 0, 0, false}} {
		_, body, next, ok := m.record(test.at)
		if ok != test.ok || len(body) != test.body || next != test.next {
			t.Errorf("at %d: %d bytes, next at %d, %t", test.at, len(body), next, ok)
		}
	}
	m.symbols = record(1, symEnd, 8)
	if _, _, _, ok := m.record(0); ok {
		t.Error("a record that is shorter than its kind is read")
	}
}

// An address belongs to the procedure that covers it: the last to start, and the first of the stream among those that
// start together. A procedure covers its first address and not its end.
func TestProcedureAt(t *testing.T) {
	m := &module{procs: []proc{{start: 10, end: 20, reach: 20}, {start: 10, end: 30, reach: 30}, {start: 10, end: 15, reach: 30},
		{start: 18, end: 19, reach: 30}, {start: 40, end: 40, reach: 40}}}
	for rva, want := range map[uint32]int{9: -1, 10: 0, 14: 0, 15: 0, 17: 0, 18: 3, 19: 0, 20: 1, 29: 1, 30: -1, 39: -1, 40: -1} {
		got := -1
		p := m.find(rva)
		for i := range m.procs {
			if p == &m.procs[i] {
				got = i
			}
		}
		if got != want || (p == nil) != (want < 0) {
			t.Errorf("%d: procedure %d, want %d", rva, got, want)
		}
	}
}
