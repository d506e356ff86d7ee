-- +goose Up
-- What pages of runs show has a class more: a block that is reallocated to ever more bytes.
drop index findings_bad;
create index findings_bad on findings (run_id, ordinal) where class in ('growing', 'growing-block', 'leak');
drop index sites_bad;
create index sites_bad on sites (run_id, ordinal) where verdict in ('growing', 'growing-block', 'leak');

-- +goose Down
drop index findings_bad;
create index findings_bad on findings (run_id, ordinal) where class in ('leak', 'growing');
drop index sites_bad;
create index sites_bad on sites (run_id, ordinal) where verdict in ('leak', 'growing');
update findings set class = 'growing' where class = 'growing-block';
update sites set verdict = 'growing' where verdict = 'growing-block';
