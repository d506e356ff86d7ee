package allocations

import (
	"math/rand/v2"
	"testing"
)

// A life is the rows of one process, all of site 0; its methods take times in ms.
type life struct{ rows rowList }

func (l *life) block(alloc, free int64, size uint64, end End) {
	r := Row{AllocTime: alloc * 1e6, FreeTime: free * 1e6, Size: size, End: end}
	if free == Never {
		r.FreeTime = Never
	}
	l.rows = append(l.rows, r)
}

// blocks makes blocks one every so many ms, each alive for some ms or until the exit at 100 s.
func (l *life) blocks(from, to, every, lives int64) {
	for at := from; at < to; at += every {
		if free := at + lives; free < 100_000 {
			l.block(at, free, 100, EndFree)
		} else {
			l.block(at, 100_000, 100, EndExit)
		}
	}
}

// held makes blocks that are freed one after the other from an instant on.
func (l *life) held(n, from, to, freed, every int64, end End) {
	for i := range n {
		l.block(from+(to-from)*i/n, freed+every*i, 100, end)
	}
}

// The teardown of a process begins where the process has stopped working and frees what it still holds, whatever it did
// before.
func TestTeardowns(t *testing.T) {
	const second = int64(1000)
	for name, c := range map[string]struct {
		live func(*life)
		at   int64 // ms; 0 for never. The teardown is found at most 1/8 of its own length too early
	}{
		"nothing":            {func(*life) {}, 0},
		"killed at work":     {func(l *life) { l.blocks(0, 100*second, 5, 50); l.blocks(0, 100*second, 100, 200*second) }, 0},
		"work ends, then it": {func(l *life) { l.blocks(0, 99*second, 5, 500); l.blocks(0, 99*second, 100, 200*second) }, 0},
		"nothing but work":   {func(l *life) { l.blocks(0, 99*second, 5, 500) }, 0},
		"destructors":        {func(l *life) { l.held(500, 0, 98*second, 99*second, 1, EndFree) }, 99 * second},
		"and work before": {func(l *life) {
			l.blocks(0, 99*second, 1, 20)
			l.held(500, 0, 98*second, 99*second, 1,
				EndFree)
		}, 99 * second},
		"in the last ms": {func(l *life) {
			l.blocks(0, 99_998, 1, 1)
			l.held(500, 0, 90*second,
				99_999, 0, EndFree)
		}, 99_999},
		"heap destroyed":  {func(l *life) { l.held(500, 0, 90*second, 99_999, 0, EndDestroy) }, 99_999},
		"at the very end": {func(l *life) { l.held(500, 0, 90*second, 100*second, 0, EndDestroy) }, 100 * second},
		"half is left": {func(l *life) {
			l.blocks(0, 99*second, 200, 200*second)
			l.held(500, 0, 98*second, 99*second, 1, EndFree)
		}, 99 * second},
		"most is left": {func(l *life) {
			l.blocks(0, 99*second, 10, 200*second)
			l.held(100, 0, 98*second, 99*second, 1, EndFree)
		}, 0},
		"a purge at work": {func(l *life) {
			l.blocks(0, 100*second, 10, 50)
			l.held(900, 0, 80*second,
				92*second, 0, EndFree)
		}, 0},
		"a purge long before": {func(l *life) { l.held(500, 0, 80*second, 85*second, 0, EndFree) }, 0},
		"a cache turns over":  {func(l *life) { l.blocks(0, 100*second, 20, 30*second) }, 0},
		"two blocks":          {func(l *life) { l.held(2, 0, 80*second, 99*second, 1, EndFree) }, 0},
		"three big ones": {func(l *life) {
			l.blocks(0, 99*second, 100, 200*second)
			for i := range int64(3) {
				l.block(i, 99*second+i, 1<<30, EndFree)
			}
		}, 99 * second},
		"after the end": {func(l *life) { l.held(500, 0, 80*second, 150*second, 1, EndFree) }, 0},
	} {
		l := &life{}
		c.live(l)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(l.rows), func(i, k int) { l.rows[i], l.rows[k] = l.rows[k], l.rows[i] })
		got, err := Teardowns(t.Context(), l.rows, []int32{0}, []TracedLife{{0, 100 * second * 1e6}})
		if err != nil {
			t.Fatal(err)
		}
		if c.at == 0 {
			if got[0] != Never {
				t.Errorf("%s: torn down at %d", name, got[0])
			}
			continue
		}
		if first, length := c.at*1e6, (100*second-c.at)*1e6; got[0] >= first || got[0] < first-length/8-1 {
			t.Errorf("%s: torn down at %d, want just before %d", name, got[0], first)
		}
	}
}

// Each process has its own end, and time stamps may contradict each other.
func TestTeardownsOfMany(t *testing.T) {
	l, second := &life{}, int64(1000)
	l.held(100, 0, 80*second, 99*second, 1, EndFree)
	process, endings := []int32{tearAtOnce + 2}, make([]TracedLife, tearAtOnce+4)
	endings[tearAtOnce+2] = TracedLife{0, 100e9}
	endings[5] = TracedLife{BeforeTrace + 1, Never - 1}
	endings[6] = TracedLife{7, 6}
	got, err := Teardowns(t.Context(), l.rows, process, endings)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range got {
		if (at != Never) != (i == tearAtOnce+2) {
			t.Errorf("process %d torn down at %d", i, at)
		}
	}
	if _, err := Teardowns(t.Context(), l.rows, nil, endings); err == nil {
		t.Error("rows of sites without a process were taken")
	}
}

func TestDistances(t *testing.T) {
	for b := range distances - 1 {
		if far := farthest(b); far < 1<<63 && (distance(far) != b || distance(far+1) != b+1) {
			t.Errorf("bucket %d ends at %d, which is in bucket %d", b, far, distance(far))
		}
	}
	if distance(1<<64-1) >= distances {
		t.Error("the greatest distance has no bucket")
	}
}

func BenchmarkTeardowns(b *testing.B) {
	table, size := benchmarkTable(b)
	b.SetBytes(size)
	process := make([]int32, 20_000)
	for b.Loop() {
		if _, err := Teardowns(b.Context(), table, process, []TracedLife{{0, hour}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(table.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
