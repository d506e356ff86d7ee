-- +goose Up

-- What the finding could leak in its run (analysis.Risk), whatever matters there: null where it kept nothing, and of older results.
alter table findings
    add column leak_probability double precision,
    add column leak_bytes       double precision,
    add column leak_score       double precision;

-- What turns growth that matters into bytes of the run: analysis.Watch. It is null of results from before; their gates go by findings.immaterial.
alter table runs add column watch jsonb;

-- From which growth on the call asked a leak to matter; '' for nothing beside the policy.
alter table decisions add column matters text not null default '';

-- +goose Down
alter table decisions drop column matters;
alter table runs drop column watch;
alter table findings drop column leak_probability, drop column leak_bytes, drop column leak_score;
