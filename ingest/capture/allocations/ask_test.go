package allocations

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
)

// wild makes rows without any order and with many equal times.
func wild(seed uint64, n, sites int, span int64) []Row {
	r := rand.New(rand.NewPCG(seed, 9))
	rows := make([]Row, n)
	for i := range rows {
		alloc := r.Int64N(span) - span/10
		row := Row{AllocTime: alloc, FreeTime: alloc + r.Int64N(1+r.Int64N(span)), Size: r.Uint64N(1 << r.Uint32N(20)),
			Site: r.Uint32N(uint32(sites)), End: End(1 + r.Uint32N(5)), Part: r.Uint32N(9) == 0}
		switch r.Uint32N(12) {
		case 0:
			row.AllocTime = BeforeTrace
		case 1:
			row.FreeTime, row.End = Never, EndNone
		case 2:
			row.AllocTime, row.Size, row.UnknownFree = BeforeTrace, 0, true
		}
		rows[i] = row
	}
	return rows
}

// answer is the result that Ask must give, computed by the sinks that this package offers one by one.
func answer(t *testing.T, rows []Row, q Question) *Answer {
	t.Helper()
	w := NewWindow(q.From, q.To, q.Sites)
	w.IgnoreExit = q.IgnoreExit
	a := &Answer{}
	sinks := []Sink{w}
	if q.Samples > 0 {
		a.Samples = NewSamples(q.From, q.To, q.Samples, q.Sites)
		a.Samples.IgnoreExit = q.IgnoreExit
		sinks = append(sinks, a.Samples)
	}
	var peaks []*Peaks
	for _, groups := range q.Peaks {
		count := 0
		for _, g := range groups {
			count = max(count, int(g)+1)
		}
		peaks = append(peaks, NewPeaks(q.From, q.To, count, func(r *Row) int { return int(groups[r.Site]) }))
		sinks = append(sinks, peaks[len(peaks)-1])
	}
	for _, s := range sinks {
		if err := s.AddRows(rows); err != nil {
			t.Fatal(err)
		}
	}
	a.Sites = w.Sites
	for _, p := range peaks {
		a.Peaks = append(a.Peaks, p.Result())
	}
	return a
}

func groupings(r *rand.Rand, sites int) [][]int32 {
	each, all, some := make([]int32, sites), make([]int32, sites), make([]int32, sites)
	for i := range sites {
		each[i], some[i] = int32(i), r.Int32N(5)-1
	}
	return [][]int32{each, all, some}
}

func TestAsk(t *testing.T) {
	type asked struct {
		name  string
		rows  []Row
		sites int
		span  int64
		ask   int // questions
	}
	list := []asked{{"none", nil, 0, 10, 2}, {"few", wild(1, 60, 5, 40), 5, 40, 90}} // most windows end where rows do
	if !testing.Short() {
		list = append(list,
			asked{"many at few instants", wild(2, 6_000, 3, 50), 3, 50, 6},
			asked{"many", wild(3, 20_000, 40, 1<<40), 40, 1 << 40, 6},
			asked{"in order", rowsOf(t, trace{groupRows + 5000, 50, 4}), 50, hour, 1})
	}
	for _, c := range list {
		spool := spoolOf(t, c.rows)
		_, table := tableOf(t, spool, &Meta{})
		r := rand.New(rand.NewPCG(5, 6))
		for i := range c.ask {
			q := Question{From: r.Int64N(c.span+c.span/5) - c.span/10, Sites: c.sites, Samples: i % 3 * 9, IgnoreExit: i%4 == 0,
				Peaks: groupings(r, c.sites)}
			switch q.To = q.From + r.Int64N(1+r.Int64N(c.span)); i {
			case 0:
				q.From, q.To = BeforeTrace+1, Never-1
				q.Samples = 0
			case 1:
				q.From, q.To = 0, c.span
			}
			want := answer(t, c.rows, q)
			for name, rows := range map[string]Scanner{"spool": spool, "table": table} {
				// Two of the three limits lie below the number of changes, so that there are several slices, and parts
				// of the time that are divided again.
				got, err := ask(context.Background(), rows, q,
					[]int64{maxChanges, int64(len(c.rows)/3 + 1), int64(len(c.rows)/15 + 1)}[i%3])
				if err != nil {
					t.Fatalf("%s, %s: %v", c.name, name, err)
				}
				if !reflect.DeepEqual(got.Sites, want.Sites) {
					t.Errorf("%s, %s, %+v: other classes", c.name, name, q)
				}
				if !reflect.DeepEqual(got.Samples, want.Samples) {
					t.Errorf("%s, %s: other samples", c.name, name)
				}
				for k := range want.Peaks {
					for g, peak := range want.Peaks[k] {
						if got.Peaks[k][g] != peak {
							t.Fatalf("%s, %s, [%d, %d]: peak of group %d of grouping %d is %+v, want %+v", c.name, name, q.From, q.To, g,
								k, got.Peaks[k][g], peak)
						}
					}
				}
			}
		}
	}
}
