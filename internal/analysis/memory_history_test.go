package analysis_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/footprint"
)

const (
	mega = 1 << 20
	giga = 1 << 30
)

var midday = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// told is evidence of one instant that says what memory is used for: private bytes as the system counts them, and
// megabytes for each use.
func told(minutes int, private int64, uses map[capture.UseName]int64) *capture.Capture {
	s := &capture.Space{PrivateBytes: private * mega}
	for _, name := range capture.UseNames {
		if n, ok := uses[name]; ok {
			s.Uses = append(s.Uses, capture.UseTotal{Name: name, Reserved: 2 * n * mega, Committed: n * mega, Private: n * mega})
		}
	}
	c := facts(capture.Memory{Source: "VMMap", Space: s})
	c.Snapshots[0].TakenAt = midday.Add(time.Duration(minutes) * time.Minute)
	return c
}

// blocksAt is a log of UMDH.
func blocksAt(minutes int, held int64) *capture.Capture {
	c := app.snapshot(row{id: 1, stack: app.in(0x20), count: held / 16, bytes: held})
	c.Snapshots[0].TakenAt = midday.Add(time.Duration(minutes) * time.Minute)
	return c
}

func heaps(heap, virtual int64) map[capture.UseName]int64 {
	return map[capture.UseName]int64{capture.UseHeap: heap, capture.UsePrivate: virtual}
}

// say renders a memory history, an instant a line.
func say(c *footprint.MemoryHistory) string {
	if c == nil {
		return "nothing\n"
	}
	known := func(n *int64) string {
		if n == nil {
			return "–"
		}
		return quantity.Bytes(*n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, timed %t\n", c.Measure, c.Timed)
	for i := range c.Instants {
		at := &c.Instants[i]
		fmt.Fprintf(&b, "%v %s: total %s, heaps %s, VirtualAlloc %s, unexplained %s, blocks %s", time.Duration(at.AtNS),
			at.File, known(at.Total),
			quantity.Bytes(at.PartBytes(capture.UseHeap)), quantity.Bytes(at.PartBytes(capture.UsePrivate)),
			known(at.Unexplained), known(at.Blocks))
		if at.OtherLife {
			b.WriteString(", another life")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestMemoryOverTime(t *testing.T) {
	first, restarted := told(0, 100, heaps(30, 20)), told(20, 60, heaps(30, 20))
	first.Process.PID, restarted.Process.PID = 98, 99
	committedOnly := told(30, 0, heaps(30, 20))
	for i := range committedOnly.Memory.Space.Uses {
		committedOnly.Memory.Space.Uses[i].Private = 0
	}
	untimed := told(0, 90, heaps(30, 20))
	untimed.Snapshots[0].TakenAt = time.Time{}
	bare := facts(capture.Memory{Source: "WinDbg !heap -s", Heaps: heapOf(4096, 1600)})
	bare.Snapshots[0].TakenAt = midday.Add(15 * time.Minute)
	for name, test := range map[string]struct {
		in   []*capture.Capture
		want string
	}{
		"one instant": {[]*capture.Capture{told(0, 100, heaps(30, 20))}, "nothing\n"},
		"only blocks": {[]*capture.Capture{blocksAt(0, 160), blocksAt(10, 320)}, "nothing\n"},
		"nothing is told": {[]*capture.Capture{facts(capture.Memory{Space: &capture.Space{}}),
			facts(capture.Memory{Space: &capture.Space{}})}, "nothing\n"},
		"several kinds, by their time": {[]*capture.Capture{told(20, 150, heaps(40, 60)), bare, blocksAt(10, 16*mega), told(0, 100, heaps(30, 20))}, `private bytes, timed true
0s snap4.txt: total 100 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 50.0 MB, blocks –
10m0s snap3.txt: total –, heaps 0 B, VirtualAlloc 0 B, unexplained –, blocks 16.0 MB
15m0s snap2.txt: total –, heaps 0 B, VirtualAlloc 0 B, unexplained –, blocks 1.56 KB
20m0s snap1.txt: total 150 MB, heaps 40.0 MB, VirtualAlloc 60.0 MB, unexplained 50.0 MB, blocks –
`},
		"the system does not count": {[]*capture.Capture{told(0, 0, heaps(30, 20)), told(10, 0, heaps(31, 20))}, `private bytes, timed true
0s snap1.txt: total 50.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained –, blocks –
10m0s snap2.txt: total 51.0 MB, heaps 31.0 MB, VirtualAlloc 20.0 MB, unexplained –, blocks –
`},
		"the parts are more": {[]*capture.Capture{told(0, 40, heaps(30, 20)), told(10, 60, heaps(30, 20))}, `private bytes, timed true
0s snap1.txt: total 40.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained −10.0 MB, blocks –
10m0s snap2.txt: total 60.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 10.0 MB, blocks –
`},
		"committed bytes are all there is": {[]*capture.Capture{committedOnly, committedOnly}, `committed bytes, timed true
0s snap1.txt: total 50.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained –, blocks –
0s snap2.txt: total 50.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained –, blocks –
`},
		"private and committed bytes are not mixed": {[]*capture.Capture{told(0, 100, heaps(30, 20)), committedOnly, told(40, 110, heaps(30, 20))}, `private bytes, timed true
0s snap1.txt: total 100 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 50.0 MB, blocks –
40m0s snap3.txt: total 110 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 60.0 MB, blocks –
`},
		"one has no time": {[]*capture.Capture{told(20, 100, heaps(30, 20)), untimed}, `private bytes, timed false
0s snap1.txt: total 100 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 50.0 MB, blocks –
0s snap2.txt: total 90.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 40.0 MB, blocks –
`},
		"the process was restarted": {[]*capture.Capture{first, restarted}, `private bytes, timed true
0s snap1.txt: total 100 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 50.0 MB, blocks –, another life
20m0s snap2.txt: total 60.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 10.0 MB, blocks –
`},
		"the process was restarted, the later evidence first": {[]*capture.Capture{restarted, first}, `private bytes, timed true
0s snap2.txt: total 100 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 50.0 MB, blocks –, another life
20m0s snap1.txt: total 60.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 10.0 MB, blocks –
`},
		"a count that cannot be": {[]*capture.Capture{told(0, -5, heaps(30, 20)), told(10, math.MinInt64/mega, heaps(30, math.MaxInt64/mega))}, `private bytes, timed true
0s snap1.txt: total 50.0 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained –, blocks –
10m0s snap2.txt: total 8388608 TB, heaps 30.0 MB, VirtualAlloc 8388608 TB, unexplained –, blocks –
`},
	} {
		if got := say(analyze(t, inputs(test.in...)).MemoryHistory); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, test.want)
		}
	}
}

func TestGrowthOverTime(t *testing.T) {
	first, again := told(0, 100, heaps(30, 20)), told(60, 0, heaps(30, 20))
	first.Process.PID, again.Process.PID = 98, 99
	for name, test := range map[string]struct {
		in                  []*capture.Capture
		growth, unexplained string
	}{
		"grew": {[]*capture.Capture{told(0, 100, heaps(30, 20)), blocksAt(60, 16), told(120, 220, heaps(40, 90))},
			"Private bytes by the system's count grew by 120 MB over 2 hours: VirtualAlloc +70.0 MB, Heaps +10.0 MB, unexplained +40.0 MB.",
			"Unexplained: 90.0 MB of 220 MB private bytes (last snapshot). They include page tables,"},
		"shrank": {[]*capture.Capture{told(0, 100, heaps(80, 20)), told(1, 50, heaps(30, 20))},
			"Private bytes by the regions shrank by 50.0 MB over 60 seconds: Heaps −50.0 MB.", ""},
		"the system counted once": {[]*capture.Capture{told(0, 0, heaps(30, 20)), told(60, 100, heaps(35, 20))},
			"Private bytes by the regions grew by 5.00 MB over 60 minutes: Heaps +5.00 MB.", "Unexplained: 45.0 MB of 100 MB"},
		"the system counted twice": {[]*capture.Capture{told(0, 60, heaps(30, 20)), told(30, 62, heaps(30, 20)),
			told(60, 0, heaps(90, 20))},
			"Private bytes by the system's count grew by 2.00 MB over 30 minutes: unexplained +2.00 MB.",
			"Unexplained: 12.0 MB of 62.0 MB private bytes (last snapshot with both counts)."},
		"only the rest grew": {[]*capture.Capture{told(0, 100, heaps(30, 20)), told(60, 101, heaps(30, 20))},
			"Private bytes by the system's count grew by 1.00 MB over 60 minutes: unexplained +1.00 MB.", "Unexplained: 51.0 MB of 101 MB"},
		"the parts are more": {[]*capture.Capture{told(0, 55, heaps(30, 20)), told(60, 40, heaps(30, 20))},
			"shrank by 15.0 MB over 60 minutes: unexplained −15.0 MB.", "the regions sum to 10.0 MB more than the system's count"},
		"nothing changed": {[]*capture.Capture{told(0, 55, heaps(30, 20)), told(60, 55, heaps(30, 20))},
			"Private bytes by the system's count did not change over 60 minutes.", "Unexplained: 5.00 MB of 55.0 MB"},
		"one instant": {[]*capture.Capture{told(0, 0, heaps(30, 20)), blocksAt(60, 16)}, "", ""},
		"another process told it": {[]*capture.Capture{first, again, again},
			"Private bytes by the regions did not change from the first snapshot to the last.", ""},
		"nobody lists the regions": {[]*capture.Capture{told(0, 55, nil), told(60, 58, nil)},
			"Private bytes by the system's count grew by 3.00 MB over 60 minutes.", ""},
		"the last has no regions": {[]*capture.Capture{told(0, 100, heaps(30, 20)), told(60, 110, nil)},
			"Private bytes by the system's count grew by 10.0 MB over 60 minutes.", "Unexplained: 50.0 MB of 100 MB"},
		"a count and a sum": {[]*capture.Capture{told(0, 50, heaps(30, 20)), told(60, 110, nil)}, "", ""},
	} {
		c := analyze(t, inputs(test.in...)).MemoryHistory
		if growth, unexplained := c.DescribeGrowth(), c.DescribeUnexplained(); !strings.Contains(growth, test.growth) ||
			(growth == "") != (test.growth == "") ||
			!strings.HasPrefix(unexplained, strings.TrimPrefix(test.unexplained, "the regions sum")) &&
				!strings.Contains(unexplained, test.unexplained) || (unexplained == "") != (test.unexplained == "") {
			t.Errorf("%s: %q, %q", name, growth, unexplained)
		}
	}
}

// A memory history has at most 200 instants, and keeps those that tell the whole of memory.
func TestMemoryHistoryIsBounded(t *testing.T) {
	var list []*capture.Capture
	for i := range 150 {
		list = append(list, told(i, 100+int64(i), heaps(30, 20)), blocksAt(i, 16*int64(i+1)))
	}
	c := analyze(t, inputs(list...)).MemoryHistory
	told := 0
	for i := range c.Instants {
		if c.Instants[i].Total != nil {
			told++
		}
	}
	if len(c.Instants) != 200 || told != 150 || c.Instants[199].AtNS != int64(149*time.Minute) ||
		*c.Instants[0].Total != 100*mega {
		t.Errorf("%d instants, %d of them told: %s", len(c.Instants), told, say(c))
	}
	var text bytes.Buffer
	r := analyze(t, inputs(list[:4]...))
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	if again, err := analysis.ReadJSON(&text); err != nil || say(again.MemoryHistory) != say(r.MemoryHistory) ||
		strings.Join(again.MemoryHistory.Sentences(), "\n") != strings.Join(r.MemoryHistory.Sentences(), "\n") {
		t.Errorf("%v: %s", err, say(again.MemoryHistory))
	}
}

// Of too many instants the first and the last are kept, whatever the order of the evidence.
func TestMemoryHistoryKeepsBothEnds(t *testing.T) {
	list := []*capture.Capture{blocksAt(-5, 16)} // before all others, and there is no room for it
	for i := range 250 {
		list = append(list, told((i+100)%250, 100, heaps(30, 20)))
	}
	if c := analyze(t, inputs(list...)).MemoryHistory; len(c.Instants) != 200 || c.Instants[0].AtNS != 0 ||
		c.Instants[199].AtNS != int64(249*time.Minute) {
		t.Errorf("%d instants: %s", len(c.Instants), say(c))
	}
}

func TestOutlooks(t *testing.T) {
	grows := func(bits uint8, limit int64, perStep, steps int64) (list []*capture.Capture) {
		for i := range steps {
			c := told(int(i)*60, 100+i*perStep, heaps(30, 20+i*perStep)) // address space is twice that
			c.Memory.Space.Bits, c.Memory.Space.Limit = bits, limit
			list = append(list, c)
		}
		return list
	}
	commit := func(list []*capture.Capture, used, limit int64) []*capture.Capture {
		for _, c := range list {
			c.Memory.Space.MachineCommit, c.Memory.Space.MachineCommitLimit = used, limit
		}
		return list
	}
	odd := grows(32, 2*giga, 50, 5)
	odd[2].Memory.Space.Uses[0].Reserved += 500 * mega // a spike
	untimed := grows(32, 2*giga, 50, 2)
	untimed[1].Snapshots[0].TakenAt = time.Time{}
	together := grows(32, 2*giga, 50, 2)
	together[1].Snapshots[0].TakenAt = midday
	restarted := grows(32, 2*giga, 50, 2)
	restarted[0].Process.PID, restarted[1].Process.PID = 5, 6
	partial := grows(32, 2*giga, 50, 2)
	partial[0].Memory.Space.Partial = true
	lastPartial := grows(32, 2*giga, 50, 3)
	lastPartial[2].Memory.Space.Partial, lastPartial[2].Memory.Space.Uses[0].Reserved = true, mega // that much is in the dump
	lastPartial[2].Memory.Space.Limit = 0
	allPartial := grows(32, 2*giga, 50, 2)
	allPartial[0].Memory.Space.Partial, allPartial[1].Memory.Space.Partial = true, true
	full := grows(32, 200*mega, 50, 2)
	shrunk := grows(32, 2*giga, -5, 3)
	for name, test := range map[string]struct {
		in   []*capture.Capture
		want []string
	}{
		"2 GB": {grows(32, 2*giga, 50, 2),
			[]string{"The address space is used up in 18.5 hours. Used: 200 MB of 2.00 GB; growth: 100 MB per hour (2 snapshots over 60 minutes). Allocations larger than the largest free block fail earlier."}},
		"4 GB": {grows(32, 4*giga, 50, 4),
			[]string{"The address space is used up in 37 hours. Used: 400 MB of 4.00 GB; growth: 100 MB per hour (4 snapshots over 3 hours)."}},
		"a spike does not count": {odd,
			[]string{"The address space is used up in 15.5 hours (2.58 hours or more). Used: 500 MB of 2.00 GB; growth: 100 MB per hour (5 snapshots over 4 hours)."}},
		"the limit is not told": {grows(32, 0, 50, 2),
			[]string{"No forecast for the address space: the evidence does not show its limit. Growth: 100 MB per hour (2 snapshots over 60 minutes)."}},
		"nothing grew": {grows(32, 2*giga, 0, 3),
			[]string{"No forecast for the address space: it did not grow. Used: 100 MB of 2.00 GB."}},
		"it shrank": {shrunk, []string{"the address space: it did not grow."}},
		"without a time": {untimed,
			[]string{"the address space: a snapshot has no time."}},
		"at the same time":                 {together, []string{"the address space: all snapshots have the same time."}},
		"of two processes":                 {restarted, []string{"the address space: only one snapshot has this number."}},
		"only one tells the address space": {partial, []string{"the address space: only one snapshot has this number."}},
		"the last does not tell it": {lastPartial,
			[]string{"The address space is used up in 18.5 hours. Used: 200 MB of 2.00 GB; growth: 100 MB per hour (2 snapshots over 60 minutes)."}},
		"nobody tells the address space": {allPartial,
			[]string{"No forecast for the address space: the evidence does not show how much is used. Limit: 2.00 GB."}},
		"used up": {full, []string{"The address space is used up. Used: 200 MB of 200 MB; growth:"}},
		"64 bits, the machine does not say": {grows(64, 0, 50, 2),
			[]string{"No forecast for the commit of the machine: the evidence does not show its limit. Growth: 50.0 MB per hour (2 snapshots over 60 minutes)."}},
		"64 bits": {commit(grows(64, 0, 50, 2), 5*giga, 8*giga),
			[]string{"The commit of the machine is used up in 2.56 days. Used: 5.00 GB of 8.00 GB; growth: 50.0 MB per hour (2 snapshots over 60 minutes). Growth of other processes is not included."}},
		"both": {commit(grows(32, 2*giga, 50, 2), 5*giga, 8*giga),
			[]string{"The address space is used up in",
				"The commit of the machine is used up in"}},
		"long from now": {commit(grows(64, 0, 1, 2), 5*giga, 800*giga),
			[]string{"The commit of the machine lasts more than ten years."}},
		"just too little growth": {commit(grows(64, 0, 0, 2), 5*giga, 8*giga), []string{"it did not grow"}},
		"nobody tells the width": {grows(0, 0, 50, 2), nil},
	} {
		list := analyze(t, inputs(test.in...)).MemoryHistory.Outlooks
		if len(list) != len(test.want) {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		for i := range list {
			if got := list[i].Sentence(); !strings.Contains(got, test.want[i]) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// Memory above the limit of a 32-bit program does not count against the limit.
func TestOutlookCountsWhatTheProgramCanUse(t *testing.T) {
	var list []*capture.Capture
	for i := range int64(2) {
		c := told(int(i)*60, 100, heaps(30, 20))
		s := c.Memory.Space
		s.Bits, s.Limit = 32, 2*giga
		s.Map = capture.DrawSpaceMap([]capture.AddressRange{
			{Address: 0x10000, Size: (200 + 100*i) * mega, Use: capture.UseHeap},
			{Address: 2*giga - 10*mega, Size: 20 * mega, Use: capture.UsePrivate},
			{Address: 0x7FFE_0000_0000, Size: giga, Use: capture.UseImage},
		})
		list = append(list, c)
	}
	c := analyze(t, inputs(list...)).MemoryHistory
	if o := c.Outlooks[0]; *c.Instants[0].Taken != 210*mega || o.Used != 310*mega ||
		o.BytesPerHour != 100*mega || o.LeftNS == nil {
		t.Errorf("%d taken, %+v", *c.Instants[0].Taken, o)
	}
	list[1].Memory.Space.Limit = 0
	if o := analyze(t, inputs(list...)).MemoryHistory.Outlooks[0]; o.LeftNS != nil || o.BytesPerHour != 110*mega {
		t.Errorf("%+v", o)
	}
}

// The outlook takes growth into account from one megabyte on.
func TestLeastGrowthOfAnOutlook(t *testing.T) {
	for bytes, grew := range map[int64]bool{mega - 1: false, mega: true, mega + 1: true} {
		list := []*capture.Capture{told(0, 100, heaps(30, 20)), told(60, 100, heaps(30, 20))}
		for _, c := range list {
			c.Memory.Space.Bits, c.Memory.Space.MachineCommitLimit = 64, giga
		}
		list[1].Memory.Space.PrivateBytes += bytes
		if o := analyze(t, inputs(list...)).MemoryHistory.Outlooks[0]; (o.LeftNS != nil) != grew {
			t.Errorf("%d bytes: %+v", bytes, o)
		}
	}
}

// A trace shows at a few of its instants what was allocated since it began, beside the instants of other evidence.
func TestTraceInAMemoryHistory(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code + 1}, allocations.WindowUsage{AIFO: u(3, 300)}, 400},
		life{capture.KindVirtual, []uint64{ntdll, code + 2}, allocations.WindowUsage{AIFO: u(1, 4096)}, 4096})
	space := told(0, 100, heaps(30, 20))
	space.Snapshots[0].TakenAt = c.Snapshots[2].TakenAt.Add(time.Minute)
	if got, want := say(analyze(t, inputs(c, space)).MemoryHistory), `private bytes, timed true
0s snap1.txt: total –, heaps 0 B, VirtualAlloc 0 B, unexplained –, blocks 0 B
5s snap1.txt: total –, heaps 0 B, VirtualAlloc 0 B, unexplained –, blocks 0 B
10s snap1.txt: total –, heaps 0 B, VirtualAlloc 0 B, unexplained –, blocks 300 B
1m10s snap2.txt: total 100 MB, heaps 30.0 MB, VirtualAlloc 20.0 MB, unexplained 50.0 MB, blocks –
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if list := analyze(t, inputs(c, space)).MemoryHistory.Instants; !list[0].SinceStart || list[3].SinceStart {
		t.Errorf("%+v", list)
	}
}

// Of many maps a report keeps the first and the last ones, and the captures keep all of theirs.
func TestMapsInAReport(t *testing.T) {
	for _, n := range []int{1, 4, 5, 30} {
		var list []*capture.Capture
		for i := range n {
			c := told(i, 100, heaps(30, 20))
			c.Memory.Space.Map = capture.DrawSpaceMap([]capture.AddressRange{{Address: 0x10000, Size: 4096, Use: capture.UseHeap}})
			list = append(list, c)
		}
		kept := 0
		r := analyze(t, inputs(list...))
		for i := range r.Memory {
			m := r.Memory[i].Space.Map
			if !m.LeftOut {
				kept++
			}
			if m.LeftOut != (len(m.Stretches) == 0) || list[i].Memory.Space.Map.LeftOut {
				t.Errorf("%d of %d: %+v", i, n, m)
			}
		}
		if kept != min(n, 4) || r.Memory[0].Space.Map.LeftOut || r.Memory[n-1].Space.Map.LeftOut {
			t.Errorf("%d of %d maps are kept", kept, n)
		}
	}
}
