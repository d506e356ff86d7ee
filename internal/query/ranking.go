package query

import (
	"cmp"
	"slices"

	"heapdrift/internal/analysis"
)

// A Ranking is the signatures of a selection in order. A page shows few of them: only the rows that are asked for are
// made.
type Ranking struct {
	result *Result
	order  []int32 // numbers of signatures
}

// rankSums are what a signature is ordered by.
type rankSums struct {
	key, held analysis.Amount
	first     int32 // 1 + the place in the report of the first of its sites; 0 where the selection has none of it
	suspect   int8  // how grave it is, where it leaks or grows
}

// Ranked sorts the signatures of a selection by a metric, the most first. By growth they come as the report has them;
// for a part of the time, those that leak or grow come before the others.
func (r *Result) Ranked(by Metric) *Ranking {
	x := r.index
	sums, n := make([]rankSums, len(x.places)), 0
	for i := range r.Sites {
		s := &r.Sites[i]
		at := &sums[x.numbers[s.Ordinal]]
		if at.first == 0 {
			at.first = int32(s.Ordinal) + 1
			n++
		}
		at.key, at.held, at.suspect = at.key.Plus(by.ofSite(&s.Amounts)), at.held.Plus(heldOf(&s.Amounts)), 0
		if s.Class.IsSuspect() {
			at.suspect = int8(s.Class.Gravity())
		}
	}
	if by.Name == Metrics[0].Name && r.isOfAllTime() {
		return &Ranking{r, x.inReport(sums, n)}
	}
	type ranked struct {
		bytes   int64
		number  int32
		suspect int8
	}
	list := make([]ranked, 0, n)
	for number := range sums {
		if at := &sums[number]; at.first > 0 {
			one := ranked{at.key.Bytes, int32(number), 0}
			if by.Name == Metrics[0].Name {
				one.suspect = at.suspect
			}
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		switch {
		case a.suspect != b.suspect:
			return cmp.Compare(b.suspect, a.suspect)
		case a.bytes != b.bytes:
			return cmp.Compare(b.bytes, a.bytes)
		}
		p, q := &sums[a.number], &sums[b.number]
		return cmp.Or(cmp.Compare(q.key.Count, p.key.Count), compareAmounts(q.held, p.held), cmp.Compare(p.first, q.first))
	})
	order := make([]int32, len(list))
	for i := range list {
		order[i] = list[i].number
	}
	return &Ranking{r, order}
}

// inReport are the numbers of n signatures as the report's findings have them, and behind them those that are in none,
// by their first site.
func (x *Index) inReport(sums []rankSums, n int) []int32 {
	found, rest := make([]int32, len(x.report.Findings)), []int32(nil) // by place: 1 + the number
	for number := range sums {
		if sums[number].first == 0 {
			continue
		}
		if place := x.places[number]; place >= 0 {
			found[place] = int32(number) + 1
		} else {
			rest = append(rest, int32(number))
		}
	}
	order := make([]int32, 0, n)
	for _, number := range found {
		if number > 0 {
			order = append(order, number-1)
		}
	}
	slices.SortFunc(rest, func(a, b int32) int { return cmp.Compare(sums[a].first, sums[b].first) })
	return append(order, rest...)
}

// Len is the number of signatures.
func (k *Ranking) Len() int { return len(k.order) }

// Rows returns the rows from index from up to but not including to; indexes behind the end are left out.
func (k *Ranking) Rows(from, to int) []Row {
	from, to = min(from, len(k.order)), min(to, len(k.order))
	r, rows := k.result, make([]Row, to-from)
	at := r.index.rowsOf(k.order[from:to])
	for i := range r.Sites {
		s := &r.Sites[i]
		n := at[r.index.numbers[s.Ordinal]]
		if n == 0 {
			continue
		}
		row := &rows[n-1]
		if row.Sites == 0 {
			*row = r.row(s.Ordinal)
		}
		row.Sites++
		row.Class = s.Class
		if r.windowed != nil {
			row.judge(&r.windowed.Sites[s.Ordinal])
		}
		row.add(&s.Amounts)
		row.part(r.site(i).Heap, s)
	}
	for i := range rows {
		if row := &rows[i]; len(row.Parts) == 1 {
			row.Parts = nil
		}
	}
	return rows
}

// rowsOf says of each signature by its number which of some it is, from 1; 0 for none of them.
func (x *Index) rowsOf(numbers []int32) []int32 {
	at := make([]int32, len(x.places))
	for i, number := range numbers {
		at[number] = int32(i) + 1
	}
	return at
}

// WithSeries fills in the Series of rows that Ranked gave.
func (r *Result) WithSeries(rows []Row) {
	numbers := make([]int32, len(rows))
	for i := range rows {
		numbers[i] = rows[i].number
	}
	at := r.index.rowsOf(numbers)
	for i := range r.Sites {
		n := at[r.index.numbers[r.Sites[i].Ordinal]]
		if n == 0 {
			continue
		}
		row := &rows[n-1]
		for k, point := range r.site(i).Series {
			if k == len(row.Series) {
				row.Series = append(row.Series, 0)
			}
			row.Series[k] += point.Bytes
		}
	}
}
