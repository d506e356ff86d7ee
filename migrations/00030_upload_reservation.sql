-- +goose Up
-- The token and the day in whose quota an upload under way is reserved.
alter table uploads add token_id bigint, add token_day date;

-- +goose Down
alter table uploads drop token_id, drop token_day;
