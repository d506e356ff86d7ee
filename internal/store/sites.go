package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

// A SiteRow is one site as a table shows it.
type SiteRow struct {
	Ordinal     int
	Signature   string // of the project: where the report's own became part of another, the other
	Kind        string
	Heap        string
	Verdict     string
	Blame       string
	Place       string
	Count       int64
	Bytes       int64
	GrowthCount *int64
	GrowthBytes *int64
	Series      []int64 // bytes at each snapshot
	Flags       []string
	Traces      []string
	StackID     *int64
	AliasIDs    []int64
	Life        *analysis.Lifetimes // of traces, over the whole trace; else nil
	TableSites  []uint32            // numbers in the allocation table of the trace
	Score       *float64            // probability that it is a leak; nil where nothing can be said
}

// A SiteOrder is a column that sites can be sorted by.
type SiteOrder string

// siteOrders maps what a page may ask for to an index of the table; all end in the rank, so pages never overlap.
var siteOrders = map[SiteOrder]string{
	"growth": `ordinal`,
	"bytes":  `outstanding_bytes desc, ordinal`,
	"blocks": `outstanding_count desc, ordinal`,
	"count":  `growth_count desc nulls last, ordinal`,
	"name":   `blame, ordinal`,

	// Of traces.
	"size":      `aifo_bytes + aifi_bytes desc nulls last, ordinal`,
	"allocs":    `aifo_count + aifi_count desc nulls last, ordinal`,
	"transient": `aifi_bytes desc nulls last, ordinal`,
	"peak":      `peak_bytes desc nulls last, ordinal`,
}

// ValidSiteOrder reports whether sites can be sorted by o.
func ValidSiteOrder(o SiteOrder) bool { return siteOrders[o] != "" }

// A SiteQuery chooses a page of a run's sites.
type SiteQuery struct {
	Run    int64
	Order  SiteOrder // "" for growth
	Filter string    // text in any frame, the heap, the id or the signature; "" for all
	Heap   string    // handle, "" for all
	Class  string    // verdict, "" for all
	Kind   string    // of memory, "" for all
	// Ordinals are the only sites that count; nil for all.
	Ordinals []int
	Limit    int
	Offset   int
}

const siteColumns = `ordinal, coalesce((select root.text from signatures own join signatures root on root.id = own.root_id where own.id = signature_id), ''), kind, heap, verdict, blame, place, outstanding_count, outstanding_bytes, growth_count, growth_bytes, series, flags, traces, stack_id, alias_ids,
	aifo_count, aifo_bytes, aifi_count, aifi_bytes, aofi_count, aofi_bytes, aofo_count, aofo_bytes, at_exit_count, at_exit_bytes,
	unknown_frees, peak_count, peak_bytes, peak_at_ns, table_sites, score`

// scanSite reads siteColumns.
func scanSite(row pgx.CollectableRow) (s SiteRow, err error) {
	var life [11]*int64
	var peak [3]*int64
	fields := []any{&s.Ordinal, &s.Signature, &s.Kind, &s.Heap, &s.Verdict, &s.Blame, &s.Place, &s.Count, &s.Bytes, &s.GrowthCount, &s.GrowthBytes,
		&s.Series, &s.Flags, &s.Traces, &s.StackID, &s.AliasIDs}
	for i := range life {
		fields = append(fields, &life[i])
	}
	for i := range peak {
		fields = append(fields, &peak[i])
	}
	if err := row.Scan(append(fields, &s.TableSites, &s.Score)...); err != nil || life[0] == nil {
		return s, err
	}
	amount := func(i int) analysis.Amount { return analysis.Amount{Count: *life[i], Bytes: *life[i+1]} }
	l := &analysis.Lifetimes{AIFO: amount(0), AIFI: amount(2), AOFI: amount(4), AOFO: amount(6), AtExit: amount(8), UnknownFrees: *life[10]}
	l.Allocated, l.Freed = sum(l.AIFO, l.AIFI), sum(l.AIFI, l.AOFI)
	if peak[0] != nil {
		l.Peak = &analysis.Peak{Amount: analysis.Amount{Count: *peak[0], Bytes: *peak[1]}, AtNS: *peak[2]}
	}
	s.Life = l
	return s, nil
}

// Sites returns a page of sites and how many the query has in all.
func (s *Store) Sites(ctx context.Context, q SiteQuery) (page []SiteRow, total int64, err error) {
	order := siteOrders[q.Order]
	if q.Order == "" {
		order = siteOrders["growth"]
	}
	if order == "" {
		return nil, 0, fmt.Errorf("store: sites cannot be sorted by %q", q.Order)
	}
	where, args := q.where()
	if len(args) == 1 {
		err = s.pool.QueryRow(ctx, `select site_count from runs where id = @run`, args).Scan(&total)
	} else {
		err = s.pool.QueryRow(ctx, `select count(*) from sites where `+where, args).Scan(&total)
	}
	if err != nil {
		return nil, 0, wrap("count sites", err)
	}
	args["limit"], args["offset"] = q.Limit, q.Offset
	// The page is chosen before signatures are looked up: of what an offset passes over nobody wants them.
	rows, _ := s.pool.Query(ctx, `
		select `+siteColumns+` from (select * from sites where `+where+` order by `+order+` limit @limit offset @offset) page order by `+order, args)
	page, err = pgx.CollectRows(rows, scanSite)
	return page, total, wrap("sites", err)
}

// SiteOrdinals returns the ranks of all sites that a query chooses, ascending, whatever its order and page.
func (s *Store) SiteOrdinals(ctx context.Context, q SiteQuery) ([]int, error) {
	where, args := q.where()
	rows, _ := s.pool.Query(ctx, `select ordinal from sites where `+where+` order by ordinal`, args)
	ordinals, err := pgx.CollectRows(rows, pgx.RowTo[int])
	return ordinals, wrap("ordinals of sites", err)
}

// where is the condition of a query. Text is looked for in what names the stacks, of which a run has few distinct ones.
func (q SiteQuery) where() (string, pgx.NamedArgs) {
	conditions, args := []string{`run_id = @run`}, pgx.NamedArgs{"run": q.Run}
	if q.Heap != "" {
		conditions, args["heap"] = append(conditions, `heap = @heap`), q.Heap
	}
	if q.Class != "" {
		conditions, args["class"] = append(conditions, `verdict = @class`), q.Class
	}
	if q.Kind != "" {
		conditions, args["kind"] = append(conditions, `kind = @kind`), q.Kind
	}
	if q.Ordinals != nil {
		conditions, args["ordinals"] = append(conditions, `ordinal = any(@ordinals)`), q.Ordinals
	}
	if q.Filter != "" {
		args["like"] = likeText(q.Filter)
		args["id"] = strings.ToUpper(strings.TrimPrefix(strings.ToLower(q.Filter), "backtrace"))
		args["signature"] = q.Filter
		conditions = append(conditions, `(signature_id in (
				select own.id from runs r join builds b on b.id = r.build_id
					join signatures asked on asked.project_id = b.project_id and asked.text = @signature join signatures own on own.root_id = asked.root_id
				where r.id = @run) or @id = any(traces)
			or ordinal in (select unnest(ordinals) from site_names where run_id = @run and name like @like))`)
	}
	return strings.Join(conditions, " and "), args
}

// likeText is a pattern for text that is anywhere in something in lower case.
func likeText(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}

// Site returns one site by its rank, or ErrNotFound.
func (s *Store) Site(ctx context.Context, run int64, ordinal int) (SiteRow, error) {
	rows, _ := s.pool.Query(ctx, `select `+siteColumns+` from sites where run_id = $1 and ordinal = $2`, run, ordinal)
	site, err := pgx.CollectExactlyOneRow(rows, scanSite)
	return site, wrap("site", err)
}

// StackFrames returns the frames of stacks by their ids, innermost first.
func (s *Store) StackFrames(ctx context.Context, ids []int64) (map[int64][]*analysis.Frame, error) {
	rows, err := s.pool.Query(ctx, `
		select st.id, f.module, f.function, f."offset", f.file, f.line, f.inline, f.layer, f.address, f.rule
		from stacks st cross join unnest(st.frames) with ordinality as u(frame, place) join frames f on f.id = u.frame
		where st.id = any($1) order by st.id, u.place`, ids)
	if err != nil {
		return nil, wrap("stack frames", err)
	}
	stacks := map[int64][]*analysis.Frame{}
	var id, line int64
	var f analysis.Frame
	_, err = pgx.ForEachRow(rows, []any{&id, &f.Module, &f.Function, &f.Offset, &f.File, &line, &f.Inline, &f.Layer, &f.Address, &f.Rule}, func() error {
		frame := f
		frame.Line = uint32(line)
		stacks[id] = append(stacks[id], &frame)
		return nil
	})
	return stacks, wrap("stack frames", err)
}
