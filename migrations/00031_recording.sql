-- +goose Up
-- What heapdrift record and watch say of the run that they push: the state of the recording, and when they said it.
alter table runs add column recording jsonb, add column recording_at timestamptz;
create index runs_recording on runs (scenario_id) where recording is not null;

-- +goose Down
drop index runs_recording;
alter table runs drop column recording, drop column recording_at;
