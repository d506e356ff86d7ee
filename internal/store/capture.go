package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"heapdrift/ingest/capture"
)

// A StoredCapture is a capture whose artifact lies in the blob store.
type StoredCapture struct {
	*capture.Capture
	Artifact string // blob key
	Bytes    int64  // of the artifact
}

// SaveCaptures stores what a read job found in a piece of evidence, ends the job and queues the analysis of the
// run, in one transaction. It returns ErrFenced, and stores nothing, when the lease is lost.
func (s *Store) SaveCaptures(ctx context.Context, l Lease, captures []StoredCapture) error {
	return s.tx(ctx, "save captures", func(tx pgx.Tx) error {
		if err := finish(ctx, tx, l); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from captures where evidence_id = $1`, l.EvidenceID); err != nil {
			return err
		}
		for ordinal, c := range captures {
			if err := insertCapture(ctx, tx, *l.EvidenceID, ordinal, c); err != nil {
				return err
			}
		}
		batch := &pgx.Batch{}
		batch.Queue(`update evidence set state = 'read', error_code = '', error = '' where id = $1`, l.EvidenceID)
		batch.Queue(`update runs set captures_rev = captures_rev + 1 where id = $1`, l.RunID)
		batch.Queue(`insert into jobs (kind, run_id) values ('analyse', $1) on conflict (run_id) where kind = 'analyse' and state = 'queued' do nothing`, l.RunID)
		return tx.SendBatch(ctx, batch).Close()
	})
}

func insertCapture(ctx context.Context, tx pgx.Tx, evidence int64, ordinal int, c StoredCapture) error {
	last := len(c.Snapshots) - 1
	total := c.Total(last)
	warnings, err := json.Marshal(c.Warnings)
	if err != nil {
		return fmt.Errorf("store: warnings of a capture: %w", err)
	}
	var id int64
	err = tx.QueryRow(ctx, `
		insert into captures (evidence_id, ordinal, kind, process, pid, bits, taken_at, artifact, artifact_bytes, outstanding_count, outstanding_bytes, warnings)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id`,
		evidence, ordinal, c.Kind, c.Process.Name, c.Process.PID, c.Process.Bits, localTime(c.Snapshots[last].TakenAt),
		c.Artifact, c.Bytes, total.Count, total.Bytes, warnings).Scan(&id)
	if err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"modules"}, []string{"capture_id", "ordinal", "path", "base", "size", "pdb", "debug_id", "symbols"},
		pgx.CopyFromSlice(len(c.Modules), func(i int) ([]any, error) {
			m := c.Modules[i]
			return []any{id, i, m.Path, numeric(m.Base), numeric(m.Size), m.PDB, m.DebugID, string(m.Symbols)}, nil
		}))
	return err
}

// A CaptureRef finds a capture's artifact and the evidence it came from.
type CaptureRef struct {
	Artifact string
	File     string
	SHA256   string
	Bytes    int64
	Evidence int64
	TakenAt  *time.Time
}

// CapturesOfRun lists the artifacts of all that was read for a run, by evidence and by place in it, with the
// revision that SaveReport wants to know.
func (s *Store) CapturesOfRun(ctx context.Context, run int64) (refs []CaptureRef, revision int64, err error) {
	err = s.tx(ctx, "captures of run", func(tx pgx.Tx) error {
		// The share lock keeps a read job from adding captures between the two queries.
		if err := tx.QueryRow(ctx, `select captures_rev from runs where id = $1 for share`, run).Scan(&revision); err != nil {
			return wrap("captures of run", err)
		}
		rows, _ := tx.Query(ctx, `
			select c.artifact, e.name, e.sha256, e.bytes, e.id, c.taken_at
			from captures c join evidence e on e.id = c.evidence_id where e.run_id = $1 order by e.id, c.ordinal`, run)
		refs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[CaptureRef])
		return err
	})
	return refs, revision, err
}

// numeric carries an unsigned 64-bit number, which no integer type of the database holds.
func numeric(v uint64) pgtype.Numeric {
	return pgtype.Numeric{Int: new(big.Int).SetUint64(v), Valid: true}
}
