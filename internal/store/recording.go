package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// UpdateRecording stores the state that the recording of a run reports, or returns ErrNotFound.
func (s *Store) UpdateRecording(ctx context.Context, run int64, r *leaks.RecordingState) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return db.Tx(ctx, s, "recording of a run", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `update runs set recording = $2, recording_at = now() where id = $1`, run, text)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		return err
	})
}

// UpdateRestored stores that no settings are changed on a host any more, for the runs of a project.
func (s *Store) UpdateRestored(ctx context.Context, project, host string, at time.Time) error {
	return s.updateRestored(ctx, project, `lower(r.recording->>'host') = lower($2) and jsonb_path_exists(r.recording, '$.settings.changed[0]')`,
		host, at)
}

// UpdateRestoredByKey notes that what the recordings with a key have changed is as before. Whether there are any is not
// said: nobody has asked who calls.
func (s *Store) UpdateRestoredByKey(ctx context.Context, project, digest string, at time.Time) error {
	return s.updateRestored(ctx, project, `r.recording->'settings'->>'restore_key' = $2`, digest, at)
}

// updateRestored stores when the settings of recordings were as before. which is the condition of $2 that they meet.
func (s *Store) updateRestored(ctx context.Context, project, which, value string, at time.Time) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return db.Tx(ctx, s, "restored settings", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			update runs set recording = jsonb_set(jsonb_set(recording, '{settings,restored}', $3), '{state}', '"interrupted"')
			where id in (
				select r.id from runs r join scenarios s on s.id = r.scenario_id join projects p on p.id = s.project_id
				where p.name = $1 and `+which+` and r.recording->'settings'->>'restored' is null
				order by r.id for update of r)`, project, value, text) // in the order in which others lock runs
		return err
	})
}

// maxRecordings is how many recordings of a project are looked at, the newest: settings that are on longer have been
// warned of long ago.
const maxRecordings = 1000

type recordingRow struct {
	ID              int64
	Build, Scenario string
	Recording       []byte
	At              time.Time
}

func (r *recordingRow) stored() (leaks.StoredRecording, error) {
	stored := leaks.StoredRecording{RunID: r.ID, Build: r.Build, Scenario: r.Scenario, ReportedAt: r.At}
	if err := json.Unmarshal(r.Recording, &stored.RecordingState); err != nil {
		return stored, fmt.Errorf("store: recording of run %d: %w", r.ID, err)
	}
	return stored, nil
}

// ListRecordingStates lists the states of the recordings of a project's runs, the newest first.
func (v View) ListRecordingStates(ctx context.Context, project string) ([]leaks.StoredRecording, error) {
	rows, err := db.All[recordingRow](ctx, db.Q(v), `
		select r.id, b.name as build, s.name as scenario, r.recording, r.recording_at as at
		from runs r join builds b on b.id = r.build_id join scenarios s on s.id = r.scenario_id
			join projects p on p.id = s.project_id
		where p.name = $1 and r.recording is not null order by r.recording_at desc limit $2`, project, maxRecordings)
	if err != nil {
		return nil, db.Wrap("recordings", err)
	}
	list := make([]leaks.StoredRecording, len(rows))
	for i := range rows {
		if list[i], err = rows[i].stored(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// FindRecordingState is the state of a run's recording; nil where none was reported.
func (v View) FindRecordingState(ctx context.Context, run int64) (*leaks.StoredRecording, error) {
	row, err := db.One[recordingRow](ctx, db.Q(v),
		`select r.id, b.name as build, s.name as scenario, r.recording, r.recording_at as at
		from runs r join builds b on b.id = r.build_id join scenarios s on s.id = r.scenario_id
		where r.id = $1 and r.recording is not null`, run)
	if err = db.Wrap("recording", err); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stored, err := row.stored()
	return &stored, err
}
