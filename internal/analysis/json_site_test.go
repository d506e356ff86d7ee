package analysis

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// randomRows makes rows of reports with odd texts and numbers.
type randomRows struct{ *rand.Rand }

func (r randomRows) text() string {
	all := []string{"", "app.exe", `c:\src\a "b".cpp`, "std::vector<int>&", "naïve", "\x00\t\n", "\xff", " ",
		"0x3f0000", "~", "\x7f"}
	return all[r.IntN(len(all))]
}

func (r randomRows) amount() Amount { return Amount{r.Int64() - r.Int64(), r.Int64N(1000)} }

func (r randomRows) maybe(set func()) {
	if r.IntN(2) == 0 {
		set()
	}
}

func (r randomRows) site() Site {
	s := Site{Signature: r.text(), Kind: r.text(), Heap: r.text(), Verdict: Class(r.text()), Stack: StackRef(r.IntN(5))}
	s.Outstanding = r.amount()
	r.maybe(func() { s.Growth = new(r.amount()) })
	r.maybe(func() { s.Unreachable = new(r.amount()) })
	r.maybe(func() {
		s.Series = []Point{}
		for range r.IntN(4) {
			s.Series = append(s.Series, Point{r.Int64(), r.amount()})
		}
	})
	r.maybe(func() {
		s.Score = new([]float64{0, 1, 0.5, 1e-7, 1e-6, 0.1234567890123, 1e21, 9.99e20, r.Float64(), -r.Float64()}[r.IntN(10)])
	})
	r.maybe(func() { s.Blame = &Blame{r.text(), r.text(), r.text(), r.text(), r.Uint32()} })
	r.maybe(func() { s.Flags = []string{r.text(), r.text()}[:r.IntN(3)] })
	r.maybe(func() { s.Traces = []string{r.text(), r.text()}[:r.IntN(3)] })
	r.maybe(func() { s.AliasStacks = []StackRef{1, StackRef(r.IntN(9))}[:r.IntN(3)] })
	if r.IntN(8) == 0 {
		s.Lifetimes = &Lifetimes{AIFO: r.amount()}
	}
	if r.IntN(8) == 0 {
		s.TableSites = []uint32{r.Uint32()}
	}
	return s
}

func (r randomRows) frame() Frame {
	return Frame{r.text(), r.text(), r.text(), r.text(), r.text(), r.Uint32(), r.IntN(2) == 0, Layer(r.text()), r.text(),
		r.text(), r.IntN(2) == 0}
}

// A site is written as encoding/json writes it, whatever it holds.
func TestSiteAsJSON(t *testing.T) {
	r := randomRows{rand.New(rand.NewPCG(7, 8))}
	for range 5000 {
		s := r.site()
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
