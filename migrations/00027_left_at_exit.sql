-- +goose Up
-- What pages of runs show has a class more: memory that a tool lists as not freed when the process ended.
drop index findings_bad;
create index findings_bad on findings (run_id, ordinal) where class in ('growing', 'left-at-exit', 'unreferenced', 'growing-block', 'leak');
drop index sites_bad;
create index sites_bad on sites (run_id, ordinal) where verdict in ('growing', 'left-at-exit', 'unreferenced', 'growing-block', 'leak');

-- +goose Down
drop index findings_bad;
create index findings_bad on findings (run_id, ordinal) where class in ('growing', 'unreferenced', 'growing-block', 'leak');
drop index sites_bad;
create index sites_bad on sites (run_id, ordinal) where verdict in ('growing', 'unreferenced', 'growing-block', 'leak');
update findings set class = 'growing' where class = 'left-at-exit';
update sites set verdict = 'growing' where verdict = 'left-at-exit';
