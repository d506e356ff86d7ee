package allocations

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
)

// rowList are rows in memory.
type rowList []Row

func (l rowList) Len() int64 { return int64(len(l)) }

func (l rowList) Scan(_ context.Context, _, _ int64, sinks ...Sink) error {
	for i := range l {
		if err := sinks[i%len(sinks)].AddRows(l[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Ask finds the classes of Window, and the peaks of Peaks, which goes through all changes in order, whatever the rows,
// the groups and the window.
func TestPeaksAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for round := range 400 {
		span := int64(1) << rng.IntN(45)
		rows := make(rowList, rng.IntN(300))
		sites := 1 + rng.IntN(12)
		for i := range rows {
			r := Row{
				Site: uint32(rng.IntN(sites)), Size: rng.Uint64N(1 << rng.IntN(20)), Part: rng.IntN(9) == 0,
				UnknownFree: rng.IntN(20) == 0,
				AllocTime:   rng.Int64N(span) - span/4, FreeTime: Never,
			}
			if rng.IntN(9) == 0 {
				r.AllocTime = BeforeTrace
			}
			if rng.IntN(5) > 0 {
				r.FreeTime = max(r.AllocTime, -span/4) + rng.Int64N(1<<rng.IntN(45))
			}
			rows[i] = r
		}
		q := Question{From: rng.Int64N(span) - span/3, Sites: sites, Peaks: make([][]int32, rng.IntN(3))}
		q.To = q.From + rng.Int64N(span)
		for i := range q.Peaks {
			for range sites {
				q.Peaks[i] = append(q.Peaks[i], int32(rng.IntN(4))-1)
			}
		}
		got, err := Ask(t.Context(), rows, q)
		if err != nil {
			t.Fatal(err)
		}
		window := NewWindow(q.From, q.To, sites)
		if err := window.AddRows(rows); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Sites, window.Sites) {
			t.Fatalf("round %d: classes %+v, want %+v", round, got.Sites, window.Sites)
		}
		for i, groups := range q.Peaks {
			peaks := NewPeaks(q.From, q.To, len(got.Peaks[i]), func(r *Row) int { return int(groups[r.Site]) })
			if err := peaks.AddRows(rows); err != nil {
				t.Fatal(err)
			}
			if want := peaks.Result(); len(want) > 0 && !reflect.DeepEqual(got.Peaks[i], want) {
				t.Fatalf("round %d: peaks of grouping %d\n%+v, want\n%+v", round, i, got.Peaks[i], want)
			}
		}
	}
}
