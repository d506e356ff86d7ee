package store

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// findingsOf returns a report's findings. A report that names none has those that its sites make together, except for
// what heaps took from the system, which is counted in their blocks.
func findingsOf(r *analysis.Report) []*analysis.Finding {
	var list []*analysis.Finding
	if len(r.Findings) > 0 {
		for i := range r.Findings {
			list = append(list, &r.Findings[i])
		}
		return list
	}
	at := map[string]int{}
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Signature == "" || s.Kind == capture.KindHeapVirtual.String() {
			continue
		}
		k, ok := at[s.Signature]
		if !ok {
			k = len(list)
			at[s.Signature] = k
			list = append(list, bareFinding(r, s))
		}
		addSite(list[k], s)
	}
	return list
}

// bareFinding is what the first site tells of its signature.
func bareFinding(r *analysis.Report, s *analysis.Site) *analysis.Finding {
	f := &analysis.Finding{Signature: s.Signature, Kind: s.Kind, Verdict: s.Verdict, Blame: s.Blame}
	if b := r.Stacks.BlamedFrame(s.Stack); b != nil {
		f.Title = b.Name()
	}
	return f
}

// addSite counts a site in a finding, which takes the gravest class of its sites.
func addSite(f *analysis.Finding, s *analysis.Site) {
	f.Sites++
	f.Outstanding.Count += s.Outstanding.Count
	f.Outstanding.Bytes += s.Outstanding.Bytes
	if s.Growth != nil {
		if f.Growth == nil {
			f.Growth = &analysis.Amount{}
		}
		f.Growth.Count += s.Growth.Count
		f.Growth.Bytes += s.Growth.Bytes
	}
	if s.Lifetimes != nil {
		if f.Lifetimes == nil {
			f.Lifetimes = &analysis.Lifetimes{}
		}
		f.Allocated.Count += s.Allocated.Count
		f.Allocated.Bytes += s.Allocated.Bytes
	}
	if s.Verdict.Gravity() > f.Verdict.Gravity() {
		f.Verdict = s.Verdict
	}
	if s.Score != nil && (f.Score == nil || *s.Score > *f.Score) {
		f.Score = s.Score
	}
}

var findingColumns = []string{"run_id", "signature_id", "class", "certain", "sites",
	"outstanding_count", "outstanding_bytes",
	"growth_count", "growth_bytes", "allocated", "score", "rate", "clauses", "witnesses", "ordinal", "evidence", "stayed",
	"immaterial", "leak_probability", "leak_bytes", "leak_score", "most_held", "listed"}

// replaceFindings puts a run's findings in the place of those stored before. Whoever calls it holds the lock of the
// project's signatures.
func replaceFindings(ctx context.Context, tx pgx.Tx, run int64, named *internedFindings) error {
	if _, err := tx.Exec(ctx, `delete from findings where run_id = $1`, run); err != nil {
		return err
	}
	return insertFindings(ctx, tx, run, named)
}

// insertFindings stores a run's findings, which are in the order of their signatures, with their ranks in the order of
// gravity.
func insertFindings(ctx context.Context, tx pgx.Tx, run int64, named *internedFindings) error {
	order := slices.Clone(named.findings)
	analysis.SortFindings(order)
	ranks := make(map[string]int, len(order))
	for rank, f := range order {
		ranks[f.Signature] = rank
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"findings"}, findingColumns,
		pgx.CopyFromSlice(len(named.findings), func(i int) ([]any, error) {
			f := named.findings[i]
			row := []any{run, named.ids[f.Signature], string(f.Verdict), f.Certain, f.Sites, f.Outstanding.Count,
				f.Outstanding.Bytes, nil, nil, nil, f.Score, nil, nil, nil, ranks[f.Signature], nil, nil,
				f.Immaterial, nil, nil, nil, f.MostHeld, nil}
			if !f.Stayed.IsZero() {
				row[16] = f.Stayed[:]
			}
			if f.Risk != nil {
				row[18], row[19], row[20] = f.Risk.Probability, f.Risk.MostBytes, f.Risk.Score
			}
			if f.Growth != nil {
				growth := f.GrowthBeforeExit() // a leak does not end with its process
				row[7], row[8] = growth.Count, growth.Bytes
			}
			if f.Lifetimes != nil {
				row[9] = f.Allocated.Count
			}
			var err error
			if row[11], err = jsonOrNull(f.Rate, f.Rate != nil); err != nil {
				return nil, err
			}
			// Why a block is stable is worth no page of evidence, and nearly all are.
			told := f.Verdict.IsSuspect() || f.Verdict == analysis.ClassCache || f.Verdict == analysis.ClassOneTime ||
				f.Evidence != nil && f.Evidence.LogOdds >= 0
			if row[12], err = jsonOrNull(f.Clauses, told && len(f.Clauses) > 0); err != nil {
				return nil, err
			}
			if row[13], err = jsonOrNull(f.ByKind, told && len(f.ByKind) > 0); err != nil {
				return nil, err
			}
			if row[22], err = jsonOrNull(f.LeftAtExit.Listed(), f.LeftAtExit != nil); err != nil {
				return nil, err
			}
			row[15], err = jsonOrNull(f.Evidence, leaks.CountsInPools(f.Verdict, f.Evidence))
			return row, err
		}))
	return err
}

// jsonOrNull is a value as JSON, or null where there is none.
func jsonOrNull(v any, there bool) (any, error) {
	if !there {
		return nil, nil
	}
	text, err := json.Marshal(v)
	return text, err
}
