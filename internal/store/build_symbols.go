package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A SymbolKey is the place of a symbol file in a symbol store, name/Key/name.
type SymbolKey struct {
	Name string
	Key  string
}

// BoundSymbols is what became of the symbol files that a push gives a build.
type BoundSymbols struct {
	Missing []SymbolKey // the team store has no such files
	Runs    int         // of the build that are named anew
}

// BindSymbols says which symbol files belong to a build, in addition to those that it has. Runs of the build whose
// evidence has no ids for such modules are named anew. It returns ErrNotFound where there is no such build.
func (s *Store) BindSymbols(ctx context.Context, project, build string, keys []SymbolKey) (BoundSymbols, error) {
	var bound BoundSymbols
	err := s.tx(ctx, "bind symbols to build "+build, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, symbolsLock); err != nil {
			return err
		}
		id, err := value[int64](ctx, tx, `
			select b.id from builds b join projects p on p.id = b.project_id where p.name = $1 and b.name = $2`, project, build)
		if err != nil {
			return wrap("build", err)
		}
		var stems []string
		for _, k := range keys {
			f, err := symbolFile(ctx, tx, k.Name, k.Key)
			if errors.Is(err, pgx.ErrNoRows) {
				bound.Missing = append(bound.Missing, k)
				continue
			}
			if err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, `insert into build_symbols (build_id, file_id) values ($1, $2) on conflict do nothing`, id, f.ID)
			if err != nil {
				return err
			}
			if tag.RowsAffected() > 0 {
				stem := stemOf(f.Name) // 32-bit system libraries have PDBs whose names start with a "w"
				stems = append(stems, stem, strings.TrimPrefix(stem, "w"))
			}
		}
		slices.Sort(stems)
		queued, err := values[int](ctx, tx, `
			insert into jobs (kind, run_id)
			select distinct 'symbolise', r.id from runs r join evidence e on e.run_id = r.id join captures c on c.evidence_id = e.id
				join modules m on m.capture_id = c.id
			where r.build_id = $1 and m.debug_id = '' and (m.stem = any($2) or m.pdb_stem <> '' and m.pdb_stem = any($2))
			order by r.id `+onQueued+` returning 1`, id, filledTexts(slices.Compact(stems)))
		bound.Runs = len(queued)
		return err
	})
	return bound, err
}

// SymbolsOfBuild returns the name of a run's build by the ids of the symbol files that belong to it and go by one of
// the names, in any case.
func (v View) SymbolsOfBuild(ctx context.Context, run int64, names []string) (map[int64]string, error) {
	type boundFile struct {
		ID    int64
		Build string
	}
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(n)
	}
	list, err := all[boundFile](ctx, v.q, `
		select f.id, b.name as build from runs r join builds b on b.id = r.build_id join build_symbols s on s.build_id = b.id
			join symbol_files f on f.id = s.file_id where r.id = $1 and f.folded = any($2)`, run, lower)
	files := make(map[int64]string, len(list))
	for _, f := range list {
		files[f.ID] = f.Build
	}
	return files, wrap("symbols of the build of a run", err)
}
