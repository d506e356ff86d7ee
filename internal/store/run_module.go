package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// A WantedModule is a module for which runs of a project lack symbols.
type WantedModule struct {
	Name          string // file name
	PDB           string // file name; "" unknown
	DebugID       string // "" where the evidence does not say
	Size          int64  // of the image, in bytes; 0 unknown
	Bits          int
	Symbols       string // capture.SymbolKind of what there is: "none", "export"
	Match         string // how the symbols were matched, or what is missing, in a sentence
	Runs          int    // how many runs of the project lack them
	LastRunID     int64  // id of the newest of them
	UnnamedFrames int64  // frames without a name, in the run that holds most under them
	// UnnamedCount and UnnamedBytes are the blocks and bytes held under those frames, in the run that holds most.
	UnnamedCount int64
	UnnamedBytes int64
	Tried        []capture.Attempt // every place that was searched
}

// ListWantedModules lists the modules for which runs of a project lack symbols, those with most bytes under unnamed
// frames first. It returns ErrNotFound for no project. Runs of one module count together where evidence gives them the
// same id, or the same name and size.
func (v View) ListWantedModules(ctx context.Context, project string, limit int) ([]WantedModule, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	list, err := db.All[WantedModule](ctx, db.Q(v), `
		with lacking as (
			select m.*, row_number() over same as place, count(*) over of_all as runs, max(m.run_id) over of_all as last_run
			from run_modules m join runs r on r.id = m.run_id join builds b on b.id = r.build_id
			where b.project_id = $1 and (m.unnamed > 0 or m.symbols = 'export' and m.stake_bytes > 0)
			window of_all as (partition by lower(m.name), lower(m.debug_id), m.size),
				same as (partition by lower(m.name), lower(m.debug_id), m.size order by m.stake_bytes desc, m.run_id desc))
		select name, pdb, debug_id, size, bits, symbols, match, runs, last_run as last_run_id, unnamed as unnamed_frames, stake_count as unnamed_count,
			stake_bytes as unnamed_bytes, tried
		from lacking where place = 1 order by stake_bytes desc, unnamed desc, lower(name), debug_id limit $2`, id, limit)
	return list, db.Wrap("wanted modules", err)
}

// replaceModules puts what the report says about modules in the place of what was stored before.
func replaceModules(ctx context.Context, tx pgx.Tx, run int64, r *analysis.Report) error {
	if _, err := tx.Exec(ctx, `delete from run_modules where run_id = $1`, run); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"run_modules"},
		[]string{"run_id", "ordinal", "name", "stem", "pdb", "debug_id", "size", "bits", "symbols", "match",
			"own", "unproven", "frames", "unnamed", "stake_count", "stake_bytes", "tried"},
		pgx.CopyFromSlice(len(r.Modules), func(i int) ([]any, error) {
			m := &r.Modules[i]
			tried := m.Tried
			if tried == nil {
				tried = []capture.Attempt{}
			}
			text, err := json.Marshal(tried)
			if err != nil {
				return nil, fmt.Errorf("store: attempts: %w", err)
			}
			symbols := m.Symbols
			if m.Mismatch {
				symbols = capture.SymbolsMismatch
			}
			return []any{run, i, m.Name, stemOf(m.Name), m.PDB, m.DebugID, int64(min(m.Size, math.MaxInt64)), r.Process.Bits,
				string(symbols), m.Match,
				m.Own, m.Unproven, m.Frames, m.Unnamed, m.UnnamedHeld.Count, m.UnnamedHeld.Bytes, text}, nil
		}))
	return err
}
