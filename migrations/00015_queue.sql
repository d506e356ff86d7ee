-- +goose Up
-- A job remembers every token it was claimed with: the first result that comes ends it, whichever of its workers brings it.
alter table jobs add tokens bigint[] not null default '{}';
-- The version of heapdrift that failed a job; another one may do better.
alter table jobs add failed_by text not null default '';
-- Somebody waits for it in a browser.
alter table evidence add urgent boolean not null default false;
create index jobs_failed on jobs (ended_at) where state = 'failed';

-- +goose Down
drop index jobs_failed;
alter table evidence drop urgent;
alter table jobs drop failed_by;
alter table jobs drop tokens;
