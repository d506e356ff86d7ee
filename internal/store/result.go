package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"golang.org/x/sync/errgroup"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A Result is the report of a run with the versions of its input.
type Result struct {
	Report    *analysis.Report
	ReportKey string          // of the blob with the whole report
	Revision  int64           // as FindAnalysisInput gave it
	Table     AllocationTable // the table that TableSites of the report refer to; zero for snapshots
}

// UpdateResult replaces a run's result and ends the job, in one transaction, with the signatures that its sites had and
// have and the states of these. A result that rests on older captures, names or rules than the one that is stored is
// dropped. It returns ErrFenced when the lease is lost.
func (s *Store) UpdateResult(ctx context.Context, l Lease, result Result) error {
	// Stacks and signatures are content: to have some that no site names does no harm, so they need not be in the
	// transaction.
	result.Report.SetStackKeys()
	var stacks []siteStacks
	var named *internedFindings
	var names []siteName
	before, stop := errgroup.WithContext(ctx)
	before.Go(func() (err error) {
		stacks, err = s.internStacks(stop, result.Report)
		return err
	})
	before.Go(func() (err error) {
		named, err = s.internSignatures(stop, l.RunID, result.Report)
		return err
	})
	before.Go(func() error {
		names = namesOf(result.Report)
		return nil
	})
	if err := before.Wait(); err != nil {
		return err
	}
	return db.Tx(ctx, s, "save result", func(tx pgx.Tx) error {
		if err := finish(ctx, tx, l); err != nil {
			return err
		}
		type revisions struct{ ReportRev, InputRev int64 }
		stored, err := db.One[revisions](ctx, tx, `select report_rev, input_rev from runs where id = $1 for update`, l.RunID)
		if err != nil {
			return err
		}
		if stored.ReportRev > result.Revision {
			return decideSettled(ctx, tx, l.RunID)
		}
		if err := s.checkBlobs(ctx, tx, result.ReportKey, result.Table.Key); err != nil {
			return err
		}
		old, err := sitesBefore(ctx, tx, l.RunID)
		if err != nil {
			return err
		}
		if err := replaceSites(ctx, tx, l.RunID, result.Report, stacks, named, names); err != nil {
			return err
		}
		if err := replaceTests(ctx, tx, l.RunID, result.Report.ExitTests); err != nil {
			return err
		}
		if err := replaceModules(ctx, tx, l.RunID, result.Report); err != nil {
			return err
		}
		seen := compare.CountFrames(result.Report)
		if err := updateRun(ctx, tx, l.RunID, result, seen); err != nil {
			return err
		}
		c := resultEffects{tx: tx, project: named.project, build: named.build, run: l.RunID, seen: seen,
			latest: result.Revision >= stored.InputRev}
		if err := c.draw(ctx, old, named, result.Report.Sites); err != nil || !c.latest {
			return err
		}
		return decideOwn(ctx, tx, l.RunID)
	})
}

func updateRun(ctx context.Context, tx pgx.Tx, run int64, result Result, seen compare.FrameCounts) error {
	head := result.Report.Summary()
	var summary bytes.Buffer
	if err := head.WriteJSON(&summary); err != nil {
		return fmt.Errorf("store: summary: %w", err)
	}
	var power []byte
	var err error
	if head.Power != nil {
		if power, err = json.Marshal(head.Power); err != nil {
			return fmt.Errorf("store: power: %w", err)
		}
	}
	exitWork, err := jsonOrNull(result.Report.ExitWork, result.Report.ExitWork != nil)
	if err != nil {
		return fmt.Errorf("store: work of lists: %w", err)
	}
	watch, err := jsonOrNull(result.Report.Observation, result.Report.Observation != nil)
	if err != nil {
		return fmt.Errorf("store: watch: %w", err)
	}
	var stretches []float64
	unit := ""
	if over := result.Report.PartLengths; over != nil {
		stretches, unit = over.Over[:], over.Unit
	}
	_, err = tx.Exec(ctx, `
		update runs set report_rev = $2, analysed_at = now(), report_key = $3, summary = $4, status = $5, sentence = $6,
			site_count = $7,
			table_key = $8, table_bytes = $9, table_site_count = $10, error_code = '', error = '',
			trace = $11, lossy = $12, power = $13, seen = $14, suffices = $15,
			stretches = $16, stretch_unit = $17, places = $18, watch = $19, exit_tools = $20, exit_work = $21 where id = $1`,
		run, result.Revision, result.ReportKey, summary.Bytes(), string(head.Verdict.Status), head.Verdict.Sentence,
		len(result.Report.Sites), result.Table.Key, result.Table.Bytes, result.Table.Sites,
		head.Trace != nil, slices.ContainsFunc(head.Warnings, func(w analysis.Warning) bool { return w.Code.Lossy() }), power,
		seen.Bytes(), result.Report.Suffices(), stretches, unit, leaks.CountHoldingFindings(result.Report.Findings),
		watch, toolsOf(result.Report), exitWork)
	return err
}

// toolsOf are the tools that printed lists of leaks at exit. A sample is no whole list, but the first of its tool like
// one: no build before tells of its leaks.
func toolsOf(r *analysis.Report) []string {
	tools := []string{}
	for i := range r.ExitLists {
		tools = append(tools, r.ExitLists[i].Tool)
	}
	if slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool { return w.Code == capture.Sampled }) {
		for i := range r.Findings {
			if l := r.Findings[i].LeftAtExit; l != nil {
				tools = append(tools, l.Tools...)
			}
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools)
}

// replaceSites puts the report's sites in the place of those stored before.
func replaceSites(ctx context.Context, tx pgx.Tx, run int64, r *analysis.Report, stacks []siteStacks,
	named *internedFindings, names []siteName) error {
	batch := &pgx.Batch{}
	batch.Queue(`delete from sites where run_id = $1`, run)
	batch.Queue(`delete from site_names where run_id = $1`, run)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"sites"},
		[]string{"run_id", "ordinal", "signature_id", "kind", "heap", "verdict", "blame", "place",
			"outstanding_count", "outstanding_bytes", "growth_count", "growth_bytes", "series", "flags", "traces",
			"stack_id", "alias_ids",
			"aifo_count", "aifo_bytes", "aifi_count", "aifi_bytes", "aofi_count", "aofi_bytes", "aofo_count", "aofo_bytes",
			"at_exit_count", "at_exit_bytes",
			"unknown_frees", "peak_count", "peak_bytes", "peak_at_ns", "table_sites", "stack_key", "score"},
		pgx.CopyFromSlice(len(r.Sites), func(i int) ([]any, error) {
			return siteRow(run, i, r, stacks[i], named.id(r.Sites[i].Signature)), nil
		}))
	if err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"site_names"}, []string{"run_id", "name", "ordinals"},
		pgx.CopyFromSlice(len(names), func(i int) ([]any, error) {
			return []any{run, names[i].name, names[i].ordinals}, nil
		}))
	return err
}

// A siteName is a text, in lower case, that finds sites.
type siteName struct {
	name     string
	ordinals []int32
}

// namesOf are the texts that find the sites of a report.
func namesOf(r *analysis.Report) []siteName {
	lists := map[string]*[]int32{}
	list := func(name string) *[]int32 {
		name = strings.ToLower(name)
		if lists[name] == nil {
			lists[name] = new([]int32)
		}
		return lists[name]
	}
	add := func(list *[]int32, site int) {
		if n := len(*list); n == 0 || (*list)[n-1] != int32(site) {
			*list = append(*list, int32(site))
		}
	}
	frames := make([][]*[]int32, r.Stacks.FrameCount()) // frames are shared by many stacks, and stacks by sites: each is named once
	stacks := make([][]*[]int32, r.Stacks.Count()+1)
	for i := range r.Sites {
		site := &r.Sites[i]
		for k := range 1 + len(site.AliasStacks) {
			stack := site.Stack
			if k > 0 {
				stack = site.AliasStacks[k-1]
			}
			if stacks[stack] == nil {
				stacks[stack] = listsOfStack(r.Stacks, stack, frames, list)
			}
			for _, list := range stacks[stack] {
				add(list, i)
			}
		}
	}
	names := make([]siteName, 0, len(lists))
	for name, ordinals := range lists {
		names = append(names, siteName{name, *ordinals})
	}
	return names
}

// listsOfStack are the lists of all texts that a stack is found by. Frames has those of frames that were met before.
func listsOfStack(stacks *analysis.Stacks, stack analysis.StackRef, frames [][]*[]int32,
	list func(name string) *[]int32) []*[]int32 {
	lists := []*[]int32{}
	for _, number := range stacks.FrameNumbers(stack) {
		if frames[number] == nil {
			frames[number] = []*[]int32{}
			for _, name := range stacks.Frame(number).SearchTexts() {
				frames[number] = append(frames[number], list(name))
			}
		}
		lists = append(lists, frames[number]...)
	}
	if blamed := stacks.BlamedFrame(stack); blamed != nil {
		lists = append(lists, list(blamed.Name()), list(blamed.FileLine()))
	}
	return lists
}

func siteRow(run int64, ordinal int, r *analysis.Report, stacks siteStacks, signature *int64) []any {
	s := &r.Sites[ordinal]
	blame, place := "", ""
	if f := r.Stacks.BlamedFrame(s.Stack); f != nil {
		blame, place = f.Name(), f.FileLine()
	}
	series := make([]int64, len(s.Series))
	for i, p := range s.Series {
		series[i] = p.Bytes
	}
	var growthCount, growthBytes *int64
	if s.Growth != nil {
		growthCount, growthBytes = &s.Growth.Count, &s.Growth.Bytes
	}
	row := []any{run, ordinal, signature, s.Kind, s.Heap, string(s.Verdict), blame, place,
		s.Outstanding.Count, s.Outstanding.Bytes,
		growthCount, growthBytes, series, orEmpty(s.Flags), orEmpty(s.Traces), stacks.stack, stacks.aliases}
	key := pgtype.UUID{Bytes: s.StackKey, Valid: s.StackKey != analysis.Key{}}
	return append(append(row, lifetimeColumns(s.Lifetimes)...), orEmpty(s.TableSites), key, s.Score)
}

// lifetimeColumns are what a trace tells of a site; nulls for snapshots.
func lifetimeColumns(l *analysis.Lifetimes) []any {
	columns := make([]any, 14)
	if l == nil {
		return columns
	}
	for i, a := range []analysis.Amount{l.AIFO, l.AIFI, l.AOFI, l.AOFO, l.AtExit} {
		columns[2*i], columns[2*i+1] = a.Count, a.Bytes
	}
	columns[10] = l.UnknownFrees
	if p := l.Peak; p != nil {
		columns[11], columns[12], columns[13] = p.Count, p.Bytes, p.AtNS
	}
	return columns
}

// orEmpty is a list that is stored as an empty array where there is none.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
