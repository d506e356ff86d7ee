package pages_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// receipts are the stacks by which lines of receipts are allocated: as in the shop, from another line of Commit, and through a vector.
func receipts() []sample {
	const reprint, push = `shopd!Shop::Orders::Order::Commit+0x2ff@c:\src\shopd\order\order.cpp:231`, `shopd!std::vector<Line,std::allocator<Line>>::push_back+0x44`
	all := slices.Clone(shop)
	at, through := slices.Clone(shop[0].stack), slices.Clone(shop[0].stack)
	at[len(newed)+1] = reprint
	through = slices.Insert(through, len(newed), push)
	at[len(newed)+1] = reprint
	return append(all, sample{0, 384, at, nil, rising(10, 60)}, sample{0, 384, through, nil, rising(5, 20)})
}

// The page of a leak shows the stacks that it comes by: the one that grows most open, with lines, and what each holds in which builds.
func TestStacksOfALeak(t *testing.T) {
	s := open(t)
	var runs []int64
	for i, samples := range [][]sample{shop, receipts(), receipts()} {
		to := target
		to.Build = fmt.Sprint(4811 + i)
		runs = append(runs, addRun(t, s.store, to, capturesOf(samples, 11)))
	}
	leak := signatureOf(t, s, appendLine)
	page := s.page("/projects/shopd/signatures/" + leak.Text)
	_, card, _ := strings.Cut(page, `id="stacks"`)
	card, _, _ = strings.Cut(card, "</section>")
	has(t, words(card), "Stacks", "2 variants, lines of build 4813",
		"▲ +2.29 MB in 50 min", "holds 2.34 MB in 6,400 blocks", "4 allocator frames · ntdll, ucrtbase, operator new", "shopd! Shop::Orders::Receipts::Receipt::AppendLine", "receipt.cpp:118", "order.cpp:207", "2 thread start frames · kernel32, ntdll",
		"2 calls that differ in lines only", "order.cpp:207", "2.12 MB", "5,790", "order.cpp:231", "229 KB", "610", "seen in 3 builds, 4811 to 4813, 3 runs", "4813", "soak-60min, run 1", "4811",
		"vector&lt;T&gt;::push_back", "▲ +75.0 KB", "holds 76.9 KB in 205 blocks", "seen in builds 4812 and 4813, 2 runs")
	has(t, card, `<li class="blame"><span class="fn" title="shopd!Shop::Orders::Receipts::Receipt::AppendLine`, fmt.Sprintf(`href="/runs/%d"`, runs[2]), fmt.Sprintf(`href="/runs/%d"`, runs[0]))
	open := regexp.MustCompile(`<details class="variant" open>`).FindAllString(card, -1)
	if all := strings.Count(card, `<details class="variant"`); all != 2 || len(open) != 1 || strings.Index(card, `class="variant" open`) > strings.Index(card, "push_back") {
		t.Errorf("%d variants, %d of them open: the first one is to be", all, len(open))
	}
	lacks(t, card, "more stack", "more variant")
}

// Of very many stacks the first few are shown, and the page says how many more there are.
func TestManyStacksOfALeak(t *testing.T) {
	s := open(t)
	var many []sample
	for i := range 200 {
		stack := slices.Clone(shop[0].stack)
		many = append(many, sample{0, 384, slices.Insert(stack, len(newed), fmt.Sprintf("shopd!std::_Uninitialized_copy%dx<Line>+0x10", i)), nil, rising(5, int64(300-i))})
	}
	addRun(t, s.store, target, capturesOf(many, 6))
	leak := signatureOf(t, s, appendLine)
	page := s.page("/projects/shopd/signatures/" + leak.Text)
	_, card, _ := strings.Cut(page, `id="stacks"`)
	card, _, _ = strings.Cut(card, "</section>")
	has(t, words(card), "200 stacks in run 1, lines of build 4812", "194 more stacks of this leak in run 1. All stacks of this leak in the run")
	link := linkOf(t, card, "All stacks of this leak in the run")
	if n := strings.Count(card, `<details class="variant"`); n != 6 {
		t.Errorf("%d variants are shown", n)
	}
	has(t, words(s.page(link)), "200")
}
