package store

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
	"heapdrift/internal/tracing"
)

// A SymbolKey is the path of a symbol file in a symbol store: Name/Key/Name.
type SymbolKey struct {
	Name string
	Key  string
}

// BoundSymbols is the result of UpdateBuildSymbols.
type BoundSymbols struct {
	Missing []SymbolKey // files that the team store does not have
	Runs    int         // how many runs of the build are symbolised again
}

// UpdateBuildSymbols records that symbol files belong to a build, in addition to earlier ones. Runs of the build whose
// evidence has no ids for such modules are symbolised again. It returns ErrNotFound where there is no such build.
func (s *Store) UpdateBuildSymbols(ctx context.Context, project, build string, keys []SymbolKey) (BoundSymbols, error) {
	var bound BoundSymbols
	err := db.Tx(ctx, s, "bind symbols to build "+build, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, symbolsLock); err != nil {
			return err
		}
		id, err := db.Value[int64](ctx, tx, `
			select b.id from builds b join projects p on p.id = b.project_id where p.name = $1 and b.name = $2`, project, build)
		if err != nil {
			return db.Wrap("build", err)
		}
		files, err := bindFiles(ctx, tx, id, keys)
		if err != nil {
			return err
		}
		var stems []string
		for i, k := range keys {
			switch f := files[i]; {
			case !f.Found:
				bound.Missing = append(bound.Missing, k)
			case f.Added:
				stem := stemOf(k.Name) // 32-bit system libraries have PDBs whose names start with a "w"
				stems = append(stems, stem, strings.TrimPrefix(stem, "w"))
			}
		}
		slices.Sort(stems)
		queued, err := db.Values[int](ctx, tx, `
			insert into jobs (kind, run_id, trace_parent)
			select distinct 'symbolise', r.id, $3 from runs r join evidence e on e.run_id = r.id join captures c on c.evidence_id = e.id
				join modules m on m.capture_id = c.id
			where r.build_id = $1 and m.debug_id = '' and (m.stem = any($2) or m.pdb_stem <> '' and m.pdb_stem = any($2))
			order by r.id `+onQueued+` returning 1`, id, filledTexts(slices.Compact(stems)), tracing.Parent(ctx))
		bound.Runs = len(queued)
		return err
	})
	return bound, err
}

// A fileOfBuild is what became of one of the keys that a push gives a build.
type fileOfBuild struct {
	Found bool // the team store has the file
	Added bool // the build did not have it
}

// bindFiles gives a build the files that the team store has of some keys, and says of each key what became of it.
func bindFiles(ctx context.Context, tx pgx.Tx, build int64, keys []SymbolKey) ([]fileOfBuild, error) {
	names, folders := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		names[i], folders[i] = k.Name, k.Key
	}
	return db.All[fileOfBuild](ctx, tx, `
		with asked as (
			select a.at, f.id from unnest($2::text[], $3::text[]) with ordinality a (name, key, at)
				left join symbol_files f on f.folded = a.name and lower(f.key) = lower(a.key)),
		added as (
			insert into build_symbols (build_id, file_id) select distinct $1::bigint, id from asked where id is not null
			on conflict do nothing returning file_id)
		select a.id is not null as found, n.file_id is not null as added from asked a left join added n on n.file_id = a.id order by a.at`,
		build, foldedNames(names), folders)
}

// ListBuildSymbols returns the symbol files that belong to the build of a run and have one of the names, in upper or
// lower case: the name of the build by the id of the file.
func (v View) ListBuildSymbols(ctx context.Context, run int64, names []string) (map[int64]string, error) {
	type boundFile struct {
		ID    int64
		Build string
	}
	list, err := db.All[boundFile](ctx, db.Q(v), `
		select f.id, b.name as build from runs r join builds b on b.id = r.build_id join build_symbols s on s.build_id = b.id
			join symbol_files f on f.id = s.file_id where r.id = $1 and f.folded = any($2)`, run, foldedNames(names))
	files := make(map[int64]string, len(list))
	for _, f := range list {
		files[f.ID] = f.Build
	}
	return files, db.Wrap("symbols of the build of a run", err)
}
