package run

import (
	"cmp"
	"context"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// windowOrders are the numbers of a window that sites can be sorted by, the largest first.
var windowOrders = map[store.SiteOrder]func(*analysis.WindowSite) int64{
	"growth":    func(s *analysis.WindowSite) int64 { return growthBytes(s.Amounts) },
	"count":     func(s *analysis.WindowSite) int64 { return growthCount(s.Amounts) },
	"bytes":     func(s *analysis.WindowSite) int64 { return s.Outstanding.Bytes },
	"blocks":    func(s *analysis.WindowSite) int64 { return s.Outstanding.Count },
	"size":      func(s *analysis.WindowSite) int64 { return lives(s.Amounts).Allocated.Bytes },
	"allocs":    func(s *analysis.WindowSite) int64 { return lives(s.Amounts).Allocated.Count },
	"transient": func(s *analysis.WindowSite) int64 { return lives(s.Amounts).AIFI.Bytes },
	"exit":      func(s *analysis.WindowSite) int64 { held, _ := s.HeldBeforeExit(); return held.Bytes },
}

func growthBytes(a analysis.Amounts) int64 {
	if a.Growth == nil {
		return 0
	}
	return a.Growth.Bytes
}

func growthCount(a analysis.Amounts) int64 {
	if a.Growth == nil {
		return 0
	}
	return a.Growth.Count
}

// lives are the lifetimes of amounts, zero where they have none.
func lives(a analysis.Amounts) *analysis.Lifetimes {
	if a.Lifetimes == nil {
		return &noLives
	}
	return a.Lifetimes
}

var noLives analysis.Lifetimes

// windowSites reads a page of the sites that have anything in the window, sorted by what they have there.
func (r *reader) windowSites(ctx context.Context, t *siteTable) error {
	sites := t.trace.windowed.Sites
	t.judgedAlone = !t.window.beforeExit()
	accepts, err := r.matching(ctx, t.listing, len(sites))
	if err != nil {
		return err
	}
	var chosen []int32
	t.all = 0
	for i := range sites {
		s := &sites[i]
		if !isInWindow(s) {
			continue
		}
		t.all++
		if accepts(s.Ordinal) && (t.heap == "" || s.Heap == t.heap) && (t.kind == "" || s.Kind == t.kind) &&
			(t.class == "" || string(s.Verdict) == t.class) {
			chosen = append(chosen, int32(i))
		}
	}
	return r.pageOfSites(ctx, t, sites, chosen)
}

// pageOfSites reads a page of the chosen ones of some sites, sorted by their numbers.
func (r *reader) pageOfSites(ctx context.Context, t *siteTable, sites []analysis.WindowSite,
	chosen []int32) (err error) {
	t.total = int64(len(chosen))
	t.page = min(t.page, max(1, pagesOf(t.total)))
	if windowOrders[t.order] == nil && t.order != "name" {
		t.order = "growth"
	}
	query := store.SiteQuery{RunID: t.run, Order: t.order, Limit: pageSize}
	first := (t.page - 1) * pageSize
	if t.order == "name" {
		query.Offset, query.Ordinals = first, ordinals(sites, chosen)
	} else {
		sortByWindow(sites, chosen, windowOrders[t.order])
		query.Order, query.Ordinals = "growth",
			ordinals(sites, chosen[min(first, len(chosen)):min(first+pageSize, len(chosen))])
	}
	if len(query.Ordinals) == 0 {
		return nil
	}
	if t.rows, _, err = r.ListSites(ctx, query); err != nil {
		return err
	}
	if t.order != "name" {
		place := map[int]int{}
		for i, ordinal := range query.Ordinals {
			place[ordinal] = i
		}
		slices.SortFunc(t.rows, func(a, b store.SiteRow) int { return cmp.Compare(place[a.Ordinal], place[b.Ordinal]) })
	}
	return nil
}

// matching says which sites have the text that a listing looks for.
func (r *reader) matching(ctx context.Context, l listing, n int) (func(ordinal int) bool, error) {
	if l.filter == "" {
		return func(int) bool { return true }, nil
	}
	found, err := r.ListSiteOrdinals(ctx, store.SiteQuery{RunID: l.run, Filter: l.filter})
	if err != nil {
		return nil, err
	}
	has := make([]bool, n)
	for _, ordinal := range found {
		if ordinal < n {
			has[ordinal] = true
		}
	}
	return func(ordinal int) bool { return ordinal >= 0 && ordinal < n && has[ordinal] }, nil
}

// isInWindow reports whether a site has allocated, freed or held anything in a window.
func isInWindow(s *analysis.WindowSite) bool {
	l := lives(s.Amounts)
	return l.AIFO != analysis.Amount{} || l.AIFI != analysis.Amount{} || l.AOFI != analysis.Amount{} ||
		l.AOFO != analysis.Amount{} || l.UnknownFrees != 0
}

// sortByWindow puts the largest first. Equal ones stand as they would have had the process not ended inside the window,
// then by their rank in the report.
func sortByWindow(sites []analysis.WindowSite, chosen []int32, key func(*analysis.WindowSite) int64) {
	slices.SortFunc(chosen, func(a, b int32) int {
		s, o := &sites[a], &sites[b]
		return cmp.Or(cmp.Compare(key(o), key(s)), cmp.Compare(o.GrowthBeforeExit().Bytes, s.GrowthBeforeExit().Bytes),
			cmp.Compare(s.Ordinal, o.Ordinal))
	})
}

func ordinals(sites []analysis.WindowSite, chosen []int32) []int {
	list := make([]int, len(chosen))
	for i, at := range chosen {
		list[i] = sites[at].Ordinal
	}
	return list
}

// numbersOf are a site's numbers in the selection.
func (t *siteTable) numbersOf(row store.SiteRow) (analysis.Amounts, string) {
	if t.selected {
		return wholeNumbers(row), row.Verdict
	}
	return t.trace.numbersOf(row)
}

// numbersOf are a site's numbers in the window.
func (v *traceView) numbersOf(row store.SiteRow) (analysis.Amounts, string) {
	if v.windowed != nil {
		if row.Ordinal < len(v.windowed.Sites) {
			s := &v.windowed.Sites[row.Ordinal]
			return s.Amounts, string(s.Verdict)
		}
		return analysis.Amounts{}, string(analysis.ClassUnknown)
	}
	a := wholeNumbers(row)
	if v.listing.window.part {
		a = a.UpToExit()
	}
	return a, row.Verdict
}

// wholeNumbers are a site's numbers over the whole trace.
func wholeNumbers(row store.SiteRow) analysis.Amounts {
	a := analysis.Amounts{Outstanding: analysis.Amount{Count: row.Count, Bytes: row.Bytes}, Lifetimes: row.Life}
	if row.GrowthBytes != nil && row.GrowthCount != nil {
		a.Growth = &analysis.Amount{Count: *row.GrowthCount, Bytes: *row.GrowthBytes}
	}
	return a
}
