package analysis

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// A site is written as encoding/json writes it, whatever it holds.
func TestSiteAsJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	text := func() string {
		all := []string{"", "app.exe", `c:\src\a "b".cpp`, "std::vector<int>&", "naïve", "\x00\t\n", "\xff", " ", "0x3f0000", "~", "\x7f"}
		return all[r.IntN(len(all))]
	}
	amount := func() Amount { return Amount{r.Int64() - r.Int64(), r.Int64N(1000)} }
	maybe := func(set func()) {
		if r.IntN(2) == 0 {
			set()
		}
	}
	for range 5000 {
		s := Site{Signature: text(), Kind: text(), Heap: text(), Verdict: Class(text()), Stack: StackRef(r.IntN(5))}
		s.Outstanding = amount()
		maybe(func() { s.Growth = new(amount()) })
		maybe(func() { s.Unreachable = new(amount()) })
		maybe(func() {
			s.Series = []Point{}
			for range r.IntN(4) {
				s.Series = append(s.Series, Point{r.Int64(), amount()})
			}
		})
		maybe(func() {
			s.Score = new([]float64{0, 1, 0.5, 1e-7, 1e-6, 0.1234567890123, 1e21, 9.99e20, r.Float64(), -r.Float64()}[r.IntN(10)])
		})
		maybe(func() { s.Blame = &Blame{text(), text(), text(), text(), r.Uint32()} })
		maybe(func() { s.Flags = []string{text(), text()}[:r.IntN(3)] })
		maybe(func() { s.Traces = []string{text(), text()}[:r.IntN(3)] })
		maybe(func() { s.Aliases = []StackRef{1, StackRef(r.IntN(9))}[:r.IntN(3)] })
		if r.IntN(8) == 0 {
			s.Lifetimes = &Lifetimes{AIFO: amount()}
		}
		if r.IntN(8) == 0 {
			s.Rows = []uint32{r.Uint32()}
		}
		want, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendSite([]byte("before "), &s)
		if err != nil || string(got) != "before "+string(want) {
			t.Fatalf("%v\n%s\nis not\n%s", err, got, want)
		}
	}
}
