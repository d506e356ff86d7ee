package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A ranking gives the order of one comparison by all numbers and then the rest, whichever numbers are equal.
func TestRanking(t *testing.T) {
	type item struct{ a, b, c, rest int64 }
	order := ranking[item]{
		numbers: []func(item) int64{
			func(x item) int64 { return x.a }, func(x item) int64 { return x.b }, func(x item) int64 { return x.c },
		},
		rest: func(equals []item) {
			slices.SortFunc(equals, func(x, y item) int { return cmp.Compare(x.rest, y.rest) })
		},
	}
	r := rand.New(rand.NewPCG(8, 1))
	values := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	for _, kinds := range []int{1, 2, len(values)} {
		for _, n := range []int{0, 1, 2, 3, 17, 500} {
			one := func() int64 { return values[r.IntN(kinds)] }
			list := make([]item, n)
			for i := range list {
				list[i] = item{one(), one(), one(), r.Int64N(50)}
			}
			want := slices.SortedFunc(slices.Values(list), func(x, y item) int {
				return cmp.Or(cmp.Compare(y.a, x.a), cmp.Compare(y.b, x.b), cmp.Compare(y.c, x.c), cmp.Compare(x.rest, y.rest))
			})
			order.sort(list)
			if !slices.Equal(list, want) {
				t.Errorf("%d things of %d values: %v, not %v", n, kinds, list, want)
			}
		}
	}
}

// Findings of one class are ordered as CompareScores orders their scores, and by signature if all else is equal.
func TestOrderOfFindings(t *testing.T) {
	scores := []*float64{nil, new(math.NaN()), new(math.Copysign(0, -1)), new(0.0), new(5e-324), new(1e-9), new(0.5),
		new(1.0), new(1e300), new(math.Inf(1))}
	for i, a := range scores {
		for j, b := range scores {
			if got, want := cmp.Compare(scoreNumber(a), scoreNumber(b)), CompareScores(a, b); got != want {
				t.Errorf("scores %d and %d are ordered %d by number, not %d", i, j, got, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(8, 2))
	for range 50 {
		list := make([]*Finding, r.IntN(40))
		for i, signature := range r.Perm(len(list)) {
			list[i] = &Finding{
				Signature: string(rune('A' + signature)),
				Verdict:   []Class{ClassLeak, ClassGrowing, ClassStable, ClassUnknown}[r.IntN(4)],
				Score:     scores[r.IntN(len(scores))],
				Amounts: Amounts{Outstanding: Amount{Bytes: r.Int64N(3)},
					Growth: &Amount{Count: r.Int64N(2), Bytes: r.Int64N(2)}},
			}
		}
		want := slices.SortedFunc(slices.Values(list), func(a, b *Finding) int {
			return cmp.Or(
				cmp.Compare(b.Verdict.Gravity(), a.Verdict.Gravity()), CompareScores(b.Score, a.Score),
				cmp.Compare(b.GrowthBeforeExit().Bytes, a.GrowthBeforeExit().Bytes),
				cmp.Compare(b.GrowthBeforeExit().Count, a.GrowthBeforeExit().Count), cmp.Compare(b.Outstanding.Bytes, a.Outstanding.Bytes),
				cmp.Compare(a.Signature, b.Signature),
			)
		})
		SortFindings(list)
		if !slices.Equal(list, want) {
			t.Fatal("findings are not in their order")
		}
	}
}
