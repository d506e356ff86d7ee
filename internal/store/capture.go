package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// A StoredCapture is a capture whose artifact lies in the blob store.
type StoredCapture struct {
	*capture.Capture
	ArtifactKey string          // key of its blob
	Bytes       int64           // of the artifact
	Table       AllocationTable // of the trace; zero for snapshots
}

// An AllocationTable says where the allocation table of a trace is.
type AllocationTable struct {
	Key   string // of its blob; "" for none
	Bytes int64  // size of the blob
	Sites int    // every Row.Site of the table is below it
}

// errUnread fails a job that had nothing to read because another job has replaced the stored captures; the job is tried
// again.
var errUnread = errors.New("the captures of the trace were replaced meanwhile")

// CreateCaptures stores what a read job found in a piece of evidence, ends the job and queues the symbolise job of the
// run, in one transaction. together are the ids of other evidence of the run that was read with it as one trace: the
// captures belong to the newest, and those of an earlier read of some of the files are deleted. Where a read of as many
// files or more is stored already, it stays; nil captures of several files say that it was so when the job looked. It
// returns ErrFenced, and stores nothing, when the lease is lost.
func (s *Store) CreateCaptures(ctx context.Context, l Lease, captures []StoredCapture, together ...int64) error {
	return db.Tx(ctx, s, "save captures", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock_shared($1)`, symbolsLock); err != nil {
			return err
		}
		project, err := db.Value[int64](ctx, tx,
			`select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1`, l.RunID)
		if err != nil {
			return db.Wrap("run", err) // it may be deleted
		}
		if err := lockProject(ctx, tx, project); err != nil { // its builds may take other places
			return err
		}
		if err := finish(ctx, tx, l); err != nil {
			return err
		}
		// Of two jobs that read files of one trace, the later one must see what the earlier one has stored.
		if _, err := tx.Exec(ctx, `select from runs where id = $1 for no key update`, l.RunID); err != nil {
			return err
		}
		owner, err := claimFiles(ctx, tx, l.RunID, append([]int64{*l.EvidenceID}, together...))
		if err != nil {
			return err
		}
		if owner == 0 {
			return decideSettled(ctx, tx, l.RunID)
		}
		if captures == nil && len(together) > 0 {
			return errUnread
		}
		var keys []string
		for _, c := range captures {
			keys = append(keys, c.ArtifactKey, c.Table.Key)
		}
		if err := s.checkBlobs(ctx, tx, keys...); err != nil {
			return err
		}
		for ordinal, c := range captures {
			if err := insertCapture(ctx, tx, owner, ordinal, c); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `update runs set input_rev = input_rev + 1 where id = $1`, l.RunID); err != nil {
			return err
		}
		if err := queueJob(ctx, tx, JobSymbolise, l.RunID); err != nil {
			return err
		}
		return noteTaken(ctx, tx, project, l.RunID)
	})
}

func insertCapture(ctx context.Context, tx pgx.Tx, evidence int64, ordinal int, c StoredCapture) error {
	last := len(c.Snapshots) - 1
	total := c.Total(last)
	warnings, err := json.Marshal(c.Warnings)
	if err != nil {
		return fmt.Errorf("store: warnings of a capture: %w", err)
	}
	id, err := db.Value[int64](ctx, tx, `
		insert into captures (evidence_id, ordinal, kind, process, pid, bits, taken_at, artifact, artifact_bytes,
			outstanding_count, outstanding_bytes, warnings,
			table_key, table_bytes, table_site_count, began_ns, held_bytes)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning id`,
		evidence, ordinal, c.Kind, c.Process.Name, c.Process.PID, c.Process.Bits, localTime(c.Snapshots[last].TakenAt),
		c.ArtifactKey, c.Bytes, total.Count, total.Bytes, warnings, c.Table.Key, c.Table.Bytes, c.Table.Sites,
		beganIn(c.Trace), c.Held())
	if err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"modules"},
		[]string{"capture_id", "ordinal", "path", "base", "size", "pdb", "debug_id", "symbols", "stem", "pdb_stem"},
		pgx.CopyFromSlice(len(c.Modules), func(i int) ([]any, error) {
			m := c.Modules[i]
			return []any{id, i, m.Path, numeric(m.Base), numeric(m.Size), m.PDB, m.DebugID, string(m.Symbols),
				stemOf(m.Path), pdbStemOf(m)}, nil
		}))
	return err
}

// A CaptureRef says where a capture's artifact is, and which evidence it came from.
type CaptureRef struct {
	ArtifactKey string          // key of its blob
	EvidenceID  int64           // evidence that it belongs to
	Files       []EvidenceFile  // all files that it was read from
	TakenAt     *time.Time      // nil where the evidence does not say
	Table       AllocationTable // of the trace; zero for snapshots
}

// An EvidenceFile is a file that a capture was read from.
type EvidenceFile struct {
	Name   string
	SHA256 string
	Bytes  int64
	Work   *float64 // done when it was taken, in the run's WorkUnit; nil where not declared
}

// An AnalysisInput is the evidence and the settings that a run's report is made of.
type AnalysisInput struct {
	Captures   []CaptureRef                 // by evidence, and in its order
	NamesKey   string                       // key of the blob with the names of their frames; "" for none
	NamesError string                       // why the last search for symbols failed; "" where it did not
	Process    string                       // that was chosen, as analysis.Options.Process; "" for the one that holds most
	Revision   int64                        // to be passed on to UpdateResult
	WorkUnit   string                       // of EvidenceFile.Work; "" where not declared
	Rules      RuleFile                     // of the project
	OwnModules []string                     // names, in lower case and without extension, of modules whose PDBs the team has uploaded
	Matters    *analysis.RequestedThreshold // threshold that the policy of the scenario sets; nil for the default
	Settle     time.Duration                // how long growth is ignored at the beginning, by the policy of the scenario
}

// FindAnalysisInput returns what an analysis of the run needs.
func (v View) FindAnalysisInput(ctx context.Context, run int64) (AnalysisInput, error) {
	type row struct {
		NamesKey, NamesError, Process, WorkUnit string
		Scenario                                string
		InputRev, ProjectID                     int64
	}
	r, err := db.One[row](ctx, db.Q(v), `
		select r.names_key, r.names_error, r.process, r.work_unit, r.input_rev, b.project_id, sc.name as scenario
		from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id where r.id = $1`, run)
	if err != nil {
		return AnalysisInput{}, db.Wrap("input of run", err)
	}
	in := AnalysisInput{NamesKey: r.NamesKey, NamesError: r.NamesError, Process: r.Process,
		Revision: r.InputRev, WorkUnit: r.WorkUnit}
	if in.Rules, err = rulesOf(ctx, db.Q(v), r.ProjectID); err != nil {
		return AnalysisInput{}, err
	}
	policy, err := policyOf(ctx, db.Q(v), r.ProjectID)
	if err != nil {
		return AnalysisInput{}, err
	}
	in.Matters, in.Settle = policy.Policies.RequestedThreshold(r.Scenario), policy.Policies.Settle(r.Scenario)
	if in.OwnModules, err = v.ListOwnModules(ctx); err != nil {
		return AnalysisInput{}, err
	}
	in.Captures, err = capturesOf(ctx, db.Q(v), run)
	return in, db.Wrap("input of run", err)
}

// ListOwnModules lists the modules whose PDBs the team has uploaded, and the images that name these, in lower case and
// without extension.
func (v View) ListOwnModules(ctx context.Context) ([]string, error) {
	list, err := db.Values[string](ctx, db.Q(v), `
		with pdbs as (select distinct folded from symbol_files where origin = 'upload' and kind = 'pdb')
		select regexp_replace(folded, '\.[^.]*$', '') from pdbs
		union select regexp_replace(i.folded, '\.[^.]*$', '') from symbol_files i join pdbs p on p.folded = lower(i.pdb) where i.kind = 'image'
		order by 1`)
	return list, db.Wrap("own modules", err)
}

// tableRow is the allocation table of a trace as rows of runs and captures have it.
type tableRow struct {
	TableKey       string
	TableBytes     int64
	TableSiteCount int
}

func (t tableRow) table() AllocationTable {
	return AllocationTable{t.TableKey, t.TableBytes, t.TableSiteCount}
}

func capturesOf(ctx context.Context, q db.Querier, run int64) ([]CaptureRef, error) {
	files, err := filesOf(ctx, q, run)
	if err != nil {
		return nil, err
	}
	type row struct {
		tableRow
		Artifact string
		Evidence int64
		TakenAt  *time.Time
	}
	rows, err := db.All[row](ctx, q, `
		select c.artifact, e.id as evidence, c.taken_at, c.table_key, c.table_bytes, c.table_site_count
		from captures c join evidence e on e.id = c.evidence_id where e.run_id = $1 order by e.id, c.ordinal`, run)
	list := make([]CaptureRef, len(rows))
	for i, r := range rows {
		list[i] = CaptureRef{ArtifactKey: r.Artifact, EvidenceID: r.Evidence, Files: files[r.Evidence],
			TakenAt: r.TakenAt, Table: r.table()}
	}
	return list, err
}

// filesOf lists the files of a run by the evidence that their captures hang on, in the order of their names: a report
// must not depend on which came first.
func filesOf(ctx context.Context, q db.Querier, run int64) (map[int64][]EvidenceFile, error) {
	type row struct {
		EvidenceFile
		Owner int64
	}
	rows, err := db.All[row](ctx, q,
		`select coalesce(read_with, id) as owner, name, sha256, bytes, work from evidence where run_id = $1 order by name collate "C", sha256`, run)
	files := map[int64][]EvidenceFile{}
	for _, r := range rows {
		same := func(other EvidenceFile) bool { return other.SHA256 == r.SHA256 }
		if !slices.ContainsFunc(files[r.Owner], same) { // a file that was uploaded twice was read once
			files[r.Owner] = append(files[r.Owner], r.EvidenceFile)
		}
	}
	return files, err
}

// numeric carries an unsigned 64-bit number, which no integer type of the database holds.
func numeric(v uint64) pgtype.Numeric {
	return pgtype.Numeric{Int: new(big.Int).SetUint64(v), Valid: true}
}
