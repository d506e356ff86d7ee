-- What tools/fill adds to the database of a server with the demo. Statements end with a line of "--;". Words with @ are
-- numbers: @projects, @runs of all, @large of the first project, @builds and @signatures of all, @sites of a run.

-- The first project is large; the others share the rest equally.
insert into projects (name) select 'team-' || lpad(i::text, 3, '0') from generate_series(1, @projects) i
--;
create table fill_plan as
	select p.id as project_id, p.i, case p.i when 1 then @large else (@runs - @large) / (@projects - 1) end as runs,
		case p.i when 1 then @builds / 10 else (@builds - @builds / 10) / (@projects - 1) end as builds,
		case p.i when 1 then @signatures / 10 else (@signatures - @signatures / 10) / (@projects - 1) end as signatures
	from (select id, right(name, 3)::int as i from projects where name like 'team-___') p
--;
insert into scenarios (project_id, name) select project_id, name from fill_plan, unnest(array['soak', 'smoke']) name
--;
-- Builds of a year, in the order of their numbers.
insert into builds (project_id, name, sequence, created_at)
	select project_id, (1000 + b)::text, 1000 + b, now() - interval '365 days' * (1 - b::float / builds) from fill_plan, generate_series(1, builds) b
--;
create table fill_runs as
	select p.project_id, p.i, p.signatures, r as number, b.id as build_id, b.created_at, s.id as scenario_id, 0::bigint as id
	from fill_plan p cross join generate_series(1, p.runs) r
		join builds b on b.project_id = p.project_id and b.sequence = 1001 + (r - 1) * p.builds / p.runs
		join scenarios s on s.project_id = p.project_id and s.name = case r % 2 when 0 then 'soak' else 'smoke' end
--;
-- The summary of each run is that of a run of the demo, and so is its report.
insert into runs (build_id, scenario_id, name, created_at, completed_at, input_rev, report_rev, analysed_at, report_key, summary, status, sentence, site_count, power, seen, places)
	select f.build_id, f.scenario_id, f.number::text, f.created_at, f.created_at, 2, 2, f.created_at, t.report_key, t.summary,
		case f.number % 3 when 0 then 'leak' when 1 then 'no-leak' else 'inconclusive' end,
		case f.number % 3 when 0 then 'app.exe leaks 8.1 MB in 2,041 blocks from Worker (worker.cpp:88).' when 1 then 'No leak found in 11 snapshots.' else 'Take 2 more snapshots of this process to detect leaks.' end,
		@sites, t.power, t.seen, t.places
	from fill_runs f, (select * from runs where summary is not null and not trace order by site_count desc, id desc limit 1) t
	order by f.created_at, f.project_id, f.number
--;
update fill_runs f set id = r.id from runs r where r.build_id = f.build_id and r.scenario_id = f.scenario_id and r.name = f.number::text
--;
create unique index on fill_runs (id)
--;
analyze fill_runs
--;
insert into decisions (run_id, fail_on, baseline, matters, decision, at)
	select id, '', '', '', jsonb_build_object('gate', case number % 3 when 0 then 'failed' when 1 then 'passed' else 'inconclusive' end, 'exit', case number % 3 when 0 then 1 when 1 then 0 else 4 end,
		'why', case number % 3 when 0 then '1 leak is new.' when 1 then 'No leak is new.' else '2 sites are undecided.' end), created_at from fill_runs
--;
insert into evidence (run_id, name, sha256, bytes, kind, state, uploaded_at)
	select id, 'snap' || k || '.txt', encode(sha256((id || '/' || k)::bytea), 'hex'), 20000000, 'umdh-snapshot', 'read', created_at from fill_runs, generate_series(1, 3) k
--;
insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, outstanding_count, outstanding_bytes, held_bytes)
	select e.id, 0, 'umdh-snapshot', 'app.exe', 4711, 64, 'captures/' || e.id, 900000, 20000, 90000000, 90000000 from evidence e join fill_runs f on f.id = e.run_id
--;
insert into jobs (kind, run_id, evidence_id, state, created_at, ended_at) select 'read', e.run_id, e.id, 'done', f.created_at, f.created_at from evidence e join fill_runs f on f.id = e.run_id
--;
insert into jobs (kind, run_id, state, created_at, ended_at) select k, id, 'done', created_at, created_at from fill_runs, unnest(array['symbolise', 'analyse']) k
--;
-- Twelve modules a run. Each build has its own, with symbols for two of three.
insert into run_modules (run_id, ordinal, name, stem, pdb, debug_id, size, bits, symbols, match, own, unproven, frames, unnamed, stake_count, stake_bytes, tried)
	select f.id, m, 'mod' || m || '.dll', 'mod' || m, 'mod' || m || '.pdb', upper(md5(f.build_id || '/' || m)) || '1', 400000, 64,
		case m % 3 when 0 then 'none' else 'private' end, case m % 3 when 0 then '' else 'id' end, true, false, 500, case m % 3 when 0 then 500 else 0 end,
		case m % 3 when 0 then 3 else 0 end, case m % 3 when 0 then 90000 else 0 end, '[]'
	from fill_runs f, generate_series(1, 12) m
--;
insert into symbol_files (kind, name, folded, key, debug_id, pdb, timestamp, size_of_image, bits, machine, symbols, note, sha256, bytes, origin, "group", uploaded_at)
	select 'pdb', 'mod' || m || '.pdb', 'mod' || m || '.pdb', upper(md5(b.id || '/' || m)) || '1', upper(md5(b.id || '/' || m)) || '1', 'mod' || m || '.pdb', 0, 0, 64, 'amd64', 'private', '',
		encode(sha256(('pdb' || b.id || '/' || m)::bytea), 'hex'), 40000000, 'upload', 'team', b.created_at
	from builds b join fill_plan p on p.project_id = b.project_id, generate_series(1, 12) m where m % 3 > 0
--;
insert into frames (hash, module, function, "offset", file, line, inline, layer, address, rule)
	select md5('fill' || i)::uuid, 'mod' || i % 12 || '.dll', 'Space::Class' || i % 900 || '::Function' || i, '0x10', 'c:\src\file' || i % 900 || '.cpp', i % 3000, false, 'app', '', 'own/pdb'
	from generate_series(1, 5000) i
--;
insert into stacks (hash, frames)
	select md5('fill stack' || i)::uuid, (select array_agg(f.id) from (select first + (i * 7 + k * 131) % 5000 as id from generate_series(1, 24) k) f)
	from (select min(id) as first from frames where hash = md5('fill1')::uuid) x, generate_series(1, 20000) i
--;
create table fill_signatures as select project_id, k, 0::bigint as id from fill_plan, generate_series(1, signatures) k
--;
-- The first twenty of a project leak in most runs, and so does one in a hundred of the others.
with made as (
	insert into signatures (project_id, text, root_id, kind, title, blame, frames, fine, leaf, class, bad)
		select project_id, 'sig1:' || md5(project_id || '/' || k), 0, 'heap', 'malloc | mod' || k % 12 || '!Space::Class' || k % 900 || '::Function' || k,
			jsonb_build_object('module', 'mod' || k % 12, 'function', 'Space::Class' || k % 900 || '::Function' || k, 'file', 'c:\src\file' || k % 900 || '.cpp', 'line', k % 3000),
			array['mod' || k % 12 || '!Space::Class' || k % 900 || '::Function' || k, 'app!Task' || k % 700 || '::Run', 'app!Worker::Loop', 'app!main'], md5('f' || k), md5('l' || k),
			case when k <= 20 or k % 100 = 0 then 'leak' else 'stable' end, k <= 20 or k % 100 = 0
		from fill_signatures returning id, project_id, text)
update fill_signatures f set id = made.id from made where made.project_id = f.project_id and made.text = 'sig1:' || md5(f.project_id || '/' || f.k)
--;
update signatures s set root_id = s.id from fill_signatures f where f.id = s.id
--;
create unique index on fill_signatures (project_id, k) include (id)
--;
analyze fill_signatures
--;
-- Of the sites of a run four fifths are those of each run; the others are from all over the project.
create table fill_sites as
	select f.id as run_id, x.k, s.id as signature_id, s.k as signature, f.number,
		case when s.k <= 20 and f.number > s.k * 3 and (s.k % 4 > 0 or f.number % 100 < 50) then 'leak' when s.k % 100 = 0 then 'growing' else 'stable' end as class
	from fill_runs f cross join generate_series(1, @sites) x (k)
		join fill_signatures s on s.project_id = f.project_id
			and s.k = case when x.k <= @sites * 4 / 5 then x.k else @sites + (f.number * (@sites / 5) + x.k) % (f.signatures - @sites) + 1 end
--;
insert into findings (run_id, signature_id, class, certain, sites, outstanding_count, outstanding_bytes, growth_count, growth_bytes, score, rate, clauses, ordinal)
	select run_id, signature_id, class, class = 'leak', 1, 10 + k % 1000, k * 64, k % 7, k % 7 * 64, case class when 'stable' then 0.01 else 0.95 end,
		case when class <> 'stable' then '{"unit": "hour", "count": 7.5, "count_low": 7, "count_high": 8, "bytes": 480.5, "bytes_low": 400, "bytes_high": 500}'::jsonb end,
		case when class <> 'stable' then (select jsonb_agg(jsonb_build_object('rule', 'rule' || c, 'holds', true, 'text', 'Grew in 5 of 5 intervals, by 7.5 blocks each.')) from generate_series(1, 6) c) end, k
	from fill_sites order by run_id, k
	on conflict do nothing
--;
insert into sites (run_id, ordinal, signature_id, kind, heap, verdict, blame, place, outstanding_count, outstanding_bytes, growth_count, growth_bytes, series, flags, traces, stack_id, alias_ids, stack_key, score)
	select run_id, k - 1, signature_id, 'heap', '0x3f0000', class, 'mod' || signature % 12 || '!Space::Class' || signature % 900 || '::Function' || signature, 'file' || signature % 900 || '.cpp:' || signature % 3000,
		10 + k % 1000, k * 64, k % 7, k % 7 * 64, array[k * 64, k * 65, k * 66]::bigint[], '{}', array['A1B2C' || k], first + signature % 20000, '{}', md5('k' || signature)::uuid, 0.01
	from fill_sites, (select min(id) as first from stacks where hash = md5('fill stack1')::uuid) x order by run_id, k
--;
drop table fill_sites, fill_runs, fill_signatures, fill_plan
--;
