-- +goose Up
-- What queued a job, as W3C's traceparent: the spans of the job lie below it. '' for none.
alter table jobs add column trace_parent text not null default '';

-- +goose Down
alter table jobs drop column trace_parent;
