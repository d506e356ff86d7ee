-- +goose Up
-- How many bytes of an upload under way count in the quota of a token, and on which day.
alter table uploads add token_id bigint, add token_day date, add counted bigint not null default 0;

-- +goose Down
alter table uploads drop token_id, drop token_day, drop counted;
