package dump

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
)

func TestLosses(t *testing.T) {
	const k64 = 0x1_0000
	for name, test := range map[string]struct {
		blocks []span
		want   []loss
	}{
		"none":                      {nil, nil},
		"small blocks of one piece": {[]span{{k64, 16}, {k64 + 32, 16}}, []loss{{span{k64, k64}, 32}}},
		"over the end of a piece":   {[]span{{2*k64 - 8, 16}}, []loss{{span{k64, k64}, 8}, {span{2 * k64, k64}, 8}}},
		"a large block": {[]span{{k64 + 16, 5 * k64}},
			[]loss{{span{k64, k64}, k64 - 16}, {span{2 * k64, 4 * k64}, 4 * k64}, {span{6 * k64, k64}, 16}}},
		"a large block beside small": {[]span{{k64, 16}, {9 * k64, 16}, {k64 + 16, k64}},
			[]loss{{span{k64, k64}, k64}, {span{2 * k64, k64}, 16}, {span{9 * k64, k64}, 16}}},
		"an empty block": {[]span{{k64, 0}}, nil},
		"longer than all there is": {[]span{{k64, ^uint64(0)}},
			[]loss{{span{k64, 0xFFFF_FFFF_FFFD_0000}, 0xFFFF_FFFF_FFFD_0000}, {span{0xFFFF_FFFF_FFFE_0000, k64}, 0xFFFF}}},
		"at the end of everything": {[]span{{^uint64(0) - 16, 16}}, nil},
	} {
		var list []loss
		for _, b := range test.blocks {
			list = addLosses(list, b)
		}
		slices.SortStableFunc(list, func(a, b loss) int { return int(a.address>>16) - int(b.address>>16) })
		if got := joinLosses(list); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %x, want %x", name, got, test.want)
		}
	}
}

// A part of a heap counts as unreached where more than half of it holds blocks without a pointer to them.
func TestPartsOfHeapsWithoutPointers(t *testing.T) {
	const k64 = 0x1_0000
	heap := piece{span: span{10 * k64, 4 * k64}, use: capture.UseHeap, state: minidump.MemCommit}
	for name, test := range map[string]struct {
		losses []loss
		edit   func(*piece)
		want   string
	}{
		"nothing is lost": {nil, nil, "[a0000 40000 heap]"},
		"just half":       {[]loss{{span{11 * k64, k64}, k64 / 2}}, nil, "[a0000 40000 heap]"},
		"just above half": {[]loss{{span{11 * k64, k64}, k64/2 + 1}}, nil,
			"[a0000 10000 heap][b0000 10000 unreached][c0000 20000 heap]"},
		"begins before": {[]loss{{span{8 * k64, 4 * k64}, 4 * k64}}, nil,
			"[a0000 20000 unreached][c0000 20000 heap]"},
		"ends behind": {[]loss{{span{13 * k64, 4 * k64}, 4 * k64}}, nil,
			"[a0000 30000 heap][d0000 10000 unreached]"},
		"elsewhere": {[]loss{{span{9 * k64, k64}, k64}, {span{14 * k64, k64}, k64}}, nil, "[a0000 40000 heap]"},
		"overlap in a damaged": {[]loss{{span{10 * k64, 3 * k64}, 3 * k64}, {span{11 * k64, k64}, k64}}, nil,
			"[a0000 30000 unreached][d0000 10000 heap]"},
		"half of a short piece": {[]loss{{span{10 * k64, k64}, 4096}}, func(p *piece) { p.size = 8191 },
			"[a0000 1fff unreached]"},
		"what is only reserved": {[]loss{{span{10 * k64, 4 * k64}, 4 * k64}},
			func(p *piece) { p.state = minidump.MemReserve }, "[a0000 40000 heap]"},
		"what is no heap": {[]loss{{span{10 * k64, 4 * k64}, 4 * k64}}, func(p *piece) { p.use = capture.UseStack },
			"[a0000 40000 stack]"},
		"page heaps, just above": {[]loss{{span{10 * k64, k64}, k64/2 + 1}}, func(p *piece) { p.use = capture.UsePageHeap },
			"[a0000 10000 unreached][b0000 30000 page-heap]"},
	} {
		p := heap
		if test.edit != nil {
			test.edit(&p)
		}
		got := ""
		for _, s := range p.stretches(nil, test.losses) {
			got += fmt.Sprintf("[%x %x %s]", uint64(s.Address), s.Size, s.Use)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
