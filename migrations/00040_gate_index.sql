-- +goose Up

-- What histories of leaks need of a finding, out of its documents: the index below answers them without the findings, which lie
-- wherever their runs do. PostgreSQL keeps the columns equal to what they are made of. Null where the documents do not say.
alter table findings
    add column at_exit         boolean          generated always as (own->>'class' = 'left-at-exit') stored, -- by the run alone
    add column log_odds        double precision generated always as ((evidence->>'log_odds')::double precision) stored,
    add column doubtful        boolean          generated always as ((pooled->'onset'->>'doubtful')::boolean) stored,
    add column began           boolean          generated always as ((pooled->'onset'->>'certain')::boolean) stored,
    add column tools           jsonb            generated always as (case when listed is not null then coalesce(listed->'tools', '[]') end) stored, -- null where no list has it
    add column leak_unit       text             generated always as (case when class = 'leak' then rate->>'unit' end) stored, -- the rate of a leak, as score.Rate has it
    add column leak_count      double precision generated always as (case when class = 'leak' then (rate->>'count')::double precision end) stored,
    add column leak_size       double precision generated always as (case when class = 'leak' then (rate->>'bytes')::double precision end) stored,
    add column leak_dispersion double precision generated always as (case when class = 'leak' then (rate->>'dispersion')::double precision end) stored,
    add column leak_unbounded  boolean          generated always as (case when class = 'leak' then (rate->>'unbounded')::boolean end) stored;
drop index findings_by_signature;
create index findings_by_signature on findings (signature_id, run_id)
    include (class, certain, at_exit, log_odds, doubtful, began, tools, leak_unit, leak_count, leak_size, leak_dispersion, leak_unbounded, stayed);

-- +goose Down
drop index findings_by_signature;
alter table findings drop column at_exit, drop column log_odds, drop column doubtful, drop column began, drop column tools,
    drop column leak_unit, drop column leak_count, drop column leak_size, drop column leak_dispersion, drop column leak_unbounded;
create index findings_by_signature on findings (signature_id, run_id) include (class);
