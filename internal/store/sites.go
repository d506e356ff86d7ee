package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// A SiteRow is one site as a table shows it.
type SiteRow struct {
	Ordinal     int                 // index of the site in the report
	Signature   string              // that of the leak in the project: where the report's own became part of another, the other
	Kind        string              // of memory: "heap", "virtual" or "heap-virtual"
	Heap        string              // handle in hex; "" where unknown
	Verdict     string              // an analysis.Class
	Blame       string              // the blamed frame
	Place       string              // file and line of the blamed frame; "" where unknown
	Count       int64               // blocks held at the end
	Bytes       int64               // held at the end
	GrowthCount *int64              // blocks; nil where there is nothing to compare with
	GrowthBytes *int64              // nil where there is nothing to compare with
	Series      []int64             // bytes at each snapshot
	Flags       []string            // the Flag constants of package analysis
	Traces      []string            // the evidence's ids of the stack
	StackID     *int64              // for ListStackFrames; nil without a stack
	AliasIDs    []int64             // further stacks that the evidence gives for the same allocations
	Life        *analysis.Lifetimes // of traces, over the whole trace; else nil
	TableSites  []uint32            // values of Row.Site in the allocation table of the trace
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

// ordersBeforeExit are the orders of numbers that differ before the process ended, when what ended with it was held.
var ordersBeforeExit = map[SiteOrder]string{
	"bytes":     `outstanding_bytes + coalesce(at_exit_bytes, 0) desc, ordinal`,
	"blocks":    `outstanding_count + coalesce(at_exit_count, 0) desc, ordinal`,
	"count":     `growth_count + coalesce(at_exit_count, 0) desc nulls last, ordinal`,
	"transient": `aifi_bytes - at_exit_bytes desc nulls last, ordinal`,
}

// ValidSiteOrder reports whether sites can be sorted by o.
func ValidSiteOrder(o SiteOrder) bool { return siteOrders[o] != "" }

// A SiteQuery chooses a page of a run's sites.
type SiteQuery struct {
	RunID        int64
	Order        SiteOrder // "" for growth
	Filter       string    // part of a frame, the heap, the id or the signature; "" for all
	Heap         string    // handle, "" for all
	Class        string    // an analysis.Class; "" for all
	Kind         string    // of memory, "" for all
	OwnSignature string    // signature as the run's report has it, "" for all
	// BeforeExit orders by the numbers of the instant before the process ended.
	BeforeExit bool
	// Ordinals restricts the query to these sites; nil for all.
	Ordinals []int
	Limit    int // most sites of the page
	Offset   int // how many sites to skip
}

const siteColumns = `ordinal, coalesce((select root.text from signatures own join signatures root on root.id = own.root_id where own.id = signature_id), '') as signature,
	kind, heap, verdict, blame, place, outstanding_count, outstanding_bytes, growth_count, growth_bytes, series, flags,
	traces, stack_id, alias_ids,
	aifo_count, aifo_bytes, aifi_count, aifi_bytes, aofi_count, aofi_bytes, aofo_count, aofo_bytes, at_exit_count,
	at_exit_bytes,
	unknown_frees, peak_count, peak_bytes, peak_at_ns, table_sites, score`

// storedSite is siteColumns. What only traces tell is nil for snapshots.
type storedSite struct {
	Ordinal                                      int
	Signature, Kind, Heap, Verdict, Blame, Place string
	OutstandingCount, OutstandingBytes           int64
	GrowthCount, GrowthBytes                     *int64
	Series                                       []int64
	Flags, Traces                                []string
	StackID                                      *int64
	AliasIDs                                     []int64
	AIFOCount, AIFOBytes, AIFICount, AIFIBytes   *int64
	AOFICount, AOFIBytes, AOFOCount, AOFOBytes   *int64
	AtExitCount, AtExitBytes, UnknownFrees       *int64
	PeakCount, PeakBytes                         *int64
	PeakAtNS                                     *int64
	TableSites                                   []uint32
	Score                                        *float64
}

func (s *storedSite) row() SiteRow {
	return SiteRow{
		Ordinal: s.Ordinal, Signature: s.Signature, Kind: s.Kind, Heap: s.Heap, Verdict: s.Verdict,
		Blame: s.Blame, Place: s.Place,
		Count: s.OutstandingCount, Bytes: s.OutstandingBytes, GrowthCount: s.GrowthCount,
		GrowthBytes: s.GrowthBytes, Series: s.Series,
		Flags: s.Flags, Traces: s.Traces, StackID: s.StackID, AliasIDs: s.AliasIDs, Life: s.lifetimes(),
		TableSites: s.TableSites, Score: s.Score,
	}
}

func (s *storedSite) lifetimes() *analysis.Lifetimes {
	if s.AIFOCount == nil {
		return nil
	}
	amount := func(count, bytes *int64) analysis.Amount { return analysis.Amount{Count: *count, Bytes: *bytes} }
	l := &analysis.Lifetimes{
		AIFO: amount(s.AIFOCount, s.AIFOBytes), AIFI: amount(s.AIFICount, s.AIFIBytes),
		AOFI: amount(s.AOFICount, s.AOFIBytes),
		AOFO: amount(s.AOFOCount, s.AOFOBytes), AtExit: amount(s.AtExitCount, s.AtExitBytes), UnknownFrees: *s.UnknownFrees,
	}
	l.Allocated, l.Freed = l.AIFO.Plus(l.AIFI), l.AIFI.Plus(l.AOFI)
	if s.PeakCount != nil {
		l.Peak = &analysis.Peak{Amount: amount(s.PeakCount, s.PeakBytes), AtNS: *s.PeakAtNS}
	}
	return l
}

// ListSites returns a page of sites and how many the query has in all.
func (v View) ListSites(ctx context.Context, q SiteQuery) (page []SiteRow, total int64, err error) {
	order := siteOrders[q.Order]
	if before := ordersBeforeExit[q.Order]; q.BeforeExit && before != "" {
		order = before
	}
	if q.Order == "" {
		order = siteOrders["growth"]
	}
	if order == "" {
		return nil, 0, fmt.Errorf("store: sites cannot be sorted by %q", q.Order)
	}
	where, args := q.where()
	if len(args) == 1 {
		total, err = db.Value[int64](ctx, db.Q(v), `select site_count from runs where id = @run`, args)
	} else {
		total, err = db.Value[int64](ctx, db.Q(v), `select count(*) from sites where `+where, args)
	}
	if err != nil {
		return nil, 0, db.Wrap("count sites", err)
	}
	args["limit"], args["offset"] = q.Limit, q.Offset
	// The page is chosen before signatures are looked up, because the rows before its offset do not need them.
	stored, err := db.All[storedSite](ctx, db.Q(v), `
		select `+siteColumns+` from (select * from sites where `+where+` order by `+order+` limit @limit offset @offset) page order by `+order, args)
	page = make([]SiteRow, len(stored))
	for i := range stored {
		page[i] = stored[i].row()
	}
	return page, total, db.Wrap("sites", err)
}

// ListSiteOrdinals returns the Ordinals of all sites that a query chooses, ascending, whatever its order and page.
func (v View) ListSiteOrdinals(ctx context.Context, q SiteQuery) ([]int, error) {
	where, args := q.where()
	ordinals, err := db.Values[int](ctx, db.Q(v), `select ordinal from sites where `+where+` order by ordinal`, args)
	return ordinals, db.Wrap("ordinals of sites", err)
}

// where is the condition of a query. Text is looked for in what names the stacks, of which a run has few distinct ones.
func (q SiteQuery) where() (string, pgx.NamedArgs) {
	conditions, args := []string{`run_id = @run`}, pgx.NamedArgs{"run": q.RunID}
	if q.Heap != "" {
		conditions, args["heap"] = append(conditions, `heap = @heap`), q.Heap
	}
	if q.Class != "" {
		conditions, args["class"] = append(conditions, `verdict = @class`), q.Class
	}
	if q.Kind != "" {
		conditions, args["kind"] = append(conditions, `kind = @kind`), q.Kind
	}
	if q.OwnSignature != "" {
		conditions, args["own"] = append(conditions,
			`signature_id = (select s.id from signatures s join builds b on b.project_id = s.project_id join runs r on r.build_id = b.id where r.id = @run and s.text = @own)`), q.OwnSignature
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

// FindSite returns the site with this Ordinal, or ErrNotFound.
func (v View) FindSite(ctx context.Context, run int64, ordinal int) (SiteRow, error) {
	site, err := db.One[storedSite](ctx, db.Q(v), `select `+siteColumns+` from sites where run_id = $1 and ordinal = $2`,
		run, ordinal)
	return site.row(), db.Wrap("site", err)
}

// ListStackFrames returns the frames of stacks by their ids, innermost first.
func (v View) ListStackFrames(ctx context.Context, ids []int64) (map[int64][]*analysis.Frame, error) {
	type row struct {
		ID                                            int64
		Module, Function, Offset, File, Address, Rule string
		Line                                          int64
		Inline                                        bool
		Layer                                         analysis.Layer
	}
	rows, err := db.Q(v).Query(ctx, `
		select st.id, f.module, f.function, f."offset", f.file, f.line, f.inline, f.layer, f.address, f.rule
		from stacks st cross join unnest(st.frames) with ordinality as u(frame, place) join frames f on f.id = u.frame
		where st.id = any($1) order by st.id, u.place`, ids)
	if err != nil {
		return nil, db.Wrap("stack frames", err)
	}
	defer rows.Close()
	stacks := map[int64][]*analysis.Frame{}
	for rows.Next() {
		r, err := pgx.RowToStructByName[row](rows)
		if err != nil {
			return nil, db.Wrap("stack frames", err)
		}
		stacks[r.ID] = append(stacks[r.ID], &analysis.Frame{
			Module: r.Module, Function: r.Function, Offset: r.Offset, File: r.File, Line: uint32(r.Line),
			Inline: r.Inline, Layer: r.Layer,
			Address: r.Address, Rule: r.Rule,
		})
	}
	return stacks, db.Wrap("stack frames", rows.Err())
}
