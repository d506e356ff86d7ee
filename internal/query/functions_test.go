package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// For any selection, a function has the numbers of the sites whose stacks contain it, its callers and callees add up to
// it, and so do the trees from it.
func TestFunctionsOfASelection(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		report, rows := process(t, r, 200)
		x := query.New(report)
		s := invent(r)
		result, err := x.Ask(t.Context(), s, &query.Table{Scanner: rows})
		if err != nil {
			t.Fatal(err)
		}
		metric := query.Metrics[1]
		functions := result.Functions(metric)
		for _, f := range functions {
			var want analysis.Amount
			sites := 0
			for i := range result.Sites {
				names := frameNames(report, report.Sites[result.Sites[i].Ordinal].Stack)
				if slices.Contains(names, f.Name) {
					held, _ := result.Sites[i].HeldBeforeExit()
					want = analysis.Amount{Count: want.Count + held.Count, Bytes: want.Bytes + held.Bytes}
					sites++
				}
			}
			if f.Held != want || f.Sites != sites {
				t.Fatalf("seed %d, %s has %+v in %d sites, want %+v in %d", seed, f.Name, f.Held, f.Sites, want, sites)
			}
			b := result.Butterfly(metric, f.Name)
			if b.Function.Held != f.Held || b.Function.Sites != f.Sites {
				t.Fatalf("seed %d, %s: %+v in the middle, %+v in the list", seed, f.Name, b.Function, f)
			}
			for side, list := range map[string][]query.Group{"callers": b.Callers, "callees": b.Callees} {
				var sum analysis.Amount
				n := 0
				for _, g := range list {
					sum = analysis.Amount{Count: sum.Count + g.Held.Count, Bytes: sum.Bytes + g.Held.Bytes}
					n += g.Sites
				}
				if sum != f.Held || n != f.Sites {
					t.Fatalf("seed %d, %s of %s have %+v in %d sites, want %+v in %d", seed, side, f.Name, sum, n, f.Held, f.Sites)
				}
			}
		}
	}
}

func frameNames(r *analysis.Report, ref analysis.StackRef) (names []string) {
	for _, f := range r.Stack(ref) {
		names = append(names, f.Name())
	}
	return names
}

// Of a recursive function the outermost call counts; beyond the ends of a stack there is a caller or callee without a
// name.
func TestButterflyOfARecursion(t *testing.T) {
	r := &analysis.Report{}
	frame := func(name string) *analysis.Frame { return &analysis.Frame{Module: "app", Function: name} }
	walk, main, add := frame("Walk"), frame("main"), frame("Add")
	for i, stack := range [][]*analysis.Frame{{walk, walk, walk, main}, {add, walk, main}, {walk}} {
		site := analysis.Site{Stack: r.AddStack(stack...)}
		site.Outstanding = analysis.Amount{Count: 1, Bytes: int64(i+1) * 100}
		r.Sites = append(r.Sites, site)
	}
	result, err := query.New(r).Ask(t.Context(), query.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := result.Butterfly(query.Metrics[1], "app!Walk")
	text := func(list []query.Group) (text []string) {
		for _, g := range list {
			text = append(text, g.Name+" "+quantity.Bytes(g.Held.Bytes))
		}
		return text
	}
	if got := text(b.Callers); !slices.Equal(got, []string{"app!main 300 B", " 300 B"}) {
		t.Errorf("callers %q", got)
	}
	if got := text(b.Callees); !slices.Equal(got, []string{" 300 B", "app!Add 200 B", "app!Walk 100 B"}) {
		t.Errorf("callees %q", got)
	}
	if got := text(result.Functions(query.Metrics[1])); !slices.Equal(got,
		[]string{"app!Walk 600 B", "app!main 300 B", "app!Add 200 B"}) {
		t.Errorf("functions %q", got)
	}
	if none := result.Butterfly(query.Metrics[1], "app!Nobody"); none.Function.Sites != 0 ||
		none.Callers == nil || len(none.Callers) > 0 {
		t.Errorf("%+v", none)
	}
	if c := b.Cells(); len(c.Rows) != 6 || c.Rows[2][0] != "function" || c.Rows[2][1] != "app!Walk" ||
		len(c.Rows[0]) != len(c.Columns) {
		t.Errorf("%+v", c)
	}
}
