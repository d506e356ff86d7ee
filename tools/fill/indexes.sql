-- For each index of the tables $1: a statement that drops it, and one that makes it again.
select case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
		else format('alter table %s drop constraint %s', i.indrelid::regclass, c.conname) end,
	case when c.oid is null then pg_get_indexdef(i.indexrelid)
		else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end
from pg_index i left join pg_constraint c on c.conindid = i.indexrelid where i.indrelid::regclass::text = any($1)
