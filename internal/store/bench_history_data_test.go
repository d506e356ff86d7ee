package store_test

import (
	"os"
)

// scale is how much history is generated.
type scale struct {
	runs, sites int
	shared      int // signatures that all runs have; others are of one run only
	bad         int // of the shared ones, that leak or grow in nearly every run
}

// scaleOf is a moderate size of history, or with HEAPDRIFT_LARGE=1 the size that the product promises to support.
func scaleOf() scale {
	if os.Getenv("HEAPDRIFT_LARGE") == "1" {
		return scale{runs: 1000, sites: 20_000, shared: 19_000, bad: 190}
	}
	return scale{runs: 100, sites: 2000, shared: 1900, bad: 19}
}

// The generated history: a build has two runs, in two scenarios. Of a run's own signatures one in a hundred leaks. Of
// the shared ones the first bad leak or grow from some build on, and every fourth of these is fixed half-way.
var historySQL = []string{
	`insert into projects (name) values ('demo')`,
	`insert into builds (project_id, name, sequence, place) select 1, (1000 + i)::text, 1000 + i, '\x00' from generate_series(1, @runs / 2) i`,
	`insert into scenarios (project_id, name) values (1, 'soak'), (1, 'smoke')`,
	`insert into runs (build_id, scenario_id, name, completed_at, input_rev, report_rev, analysed_at, report_key, summary, status, sentence, site_count)
		select (i + 1) / 2, 1 + i % 2, '1', now(), 2, 2, now(), 'key', jsonb_build_object('schema', 'heapdrift.report/v2', 'sentence', repeat('x', 20000)), 'leak',
			'app.exe leaks 8.1 MB in 2,041 blocks from Worker (worker.cpp:88)', @sites from generate_series(1, @runs) i`,
	// The frames of a run whose signatures share few frames, each in one of 20,000 stacks (compare.Seen).
	`update runs set seen = '\x204e0000'::bytea || (select string_agg(int8send(hashtextextended('f' || i, 0)) || '\x01000000'::bytea, '') from generate_series(1, @sites + 5000) i)`,
	`insert into evidence (run_id, name, sha256, bytes, kind, state) select r, 's' || k, md5(r || '/' || k), 1000000, 'umdh', 'read' from generate_series(1, @runs) r, generate_series(1, 5) k`,
	`insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, outstanding_count, outstanding_bytes)
		select id, 0, 'umdh-snapshot', 'app.exe', 1, 64, md5(id::text), 9, 9, 9 from evidence`,
	`insert into jobs (kind, run_id, evidence_id, state, ended_at) select 'read', run_id, id, 'done', now() from evidence`,
	`insert into jobs (kind, run_id, state, ended_at) select k, r, 'done', now() from generate_series(1, @runs) r, unnest(array['symbolise', 'analyse']) k`,
	`insert into frames (hash, module, function, "offset", file, line, inline, layer, address, rule)
		select md5(i::text)::uuid, 'mod' || i % 120, 'Space::Class' || i % 900 || '::Function' || i, '0x10', 'c:\src\file' || i % 900 || '.cpp', i % 3000, false, 'app', '', 'own/pdb'
		from generate_series(1, 5000) i`,
	`insert into stacks (hash, frames) select md5('s' || i)::uuid, (select array_agg(1 + (i * 7 + k * 131) % 5000) from generate_series(1, 24) k)
		from generate_series(1, @shared + (@sites - @shared) * @runs) i`,
	// Signatures are numbered: the shared ones first, then those of the runs.
	`insert into signatures (id, project_id, text, root_id, kind, title, blame, frames, fine, leaf, class, bad, described_id) overriding system value
		select i, 1, 'sig1:' || md5('s' || i), i, 'heap', 'malloc via std::vector<T>::_Emplace_reallocate | mod' || i % 120 || '!Space::Class' || i % 900 || '::Function' || i,
			jsonb_build_object('module', 'mod' || i % 120, 'function', 'Space::Class' || i % 900 || '::Function' || i, 'file', 'c:\src\file' || i % 900 || '.cpp', 'line', i % 3000),
			array['mod' || i % 120 || '!Space::Class' || i % 900 || '::Function' || i, 'app!Worker::Run', 'app!Worker::Loop', 'app!main'], md5('f' || i), md5('l' || i),
			case when own.bad then 'leak' else 'stable' end, own.bad, case when own.bad then 1 end
		from generate_series(1, @shared + (@sites - @shared) * @runs) i,
			lateral (select i <= @bad or i > @shared and i % 100 = 0 as bad) own`,
	`select setval(pg_get_serial_sequence('signatures', 'id'), (select max(id) from signatures))`,
}

// Rows that the sites of all runs share are made once: site k of a run has the shared signature k, or one of the run's
// own.
var historyTemplateSQL = []string{
	`create table template as
		select k, 'mod' || k % 120 || '!Space::Class' || k % 900 || '::Function' || k as blame, 'file' || k % 900 || '.cpp:' || k % 3000 as place,
			10 + k % 1000 as count, k * 64 as bytes, k % 7 as growth, array[k * 64, k * 65, k * 66, k * 67, k * 68]::bigint[] as series, array['A1B2C' || k] as traces,
			md5('k' || k)::uuid as stack_key,
			jsonb_build_object('unit', 'hour', 'count', 7.5, 'count_low', 7.0, 'count_high', 8.0, 'bytes', 480.5, 'bytes_low', 400.0, 'bytes_high', 500.0) as rate,
			(select jsonb_agg(jsonb_build_object('rule', 'rule' || c, 'holds', true, 'text', 'grew in 5 of 5 intervals, by 7.5 blocks each')) from generate_series(1, 6) c) as clauses,
			'[{"kind": "umdh-snapshot", "verdict": "leak", "outstanding": {"count": 1, "bytes": 2}}]'::jsonb as witnesses
		from generate_series(1, @sites) k`,
	`create table name_template as
		select 'mod' || n % 120 || '!space::class' || n % 900 || '::function' || n as name, (select array_agg(n * 10 + i) from generate_series(1, 10) i) as ordinals
		from generate_series(1, @sites / 10) n`,
}

// Findings and sites of runs from … to.
var historyRunsSQL = []string{
	`insert into findings (run_id, signature_id, class, certain, sites, outstanding_count, outstanding_bytes, growth_count, growth_bytes, score, rate, clauses, witnesses, ordinal)
		select r, own.id, own.class, own.class = 'leak', 1, t.count, t.bytes, t.growth, t.growth * 64, case when own.class = 'stable' then 0.01 else 0.95 end,
			case when own.class <> 'stable' then t.rate end, case when own.class <> 'stable' then t.clauses end, case when own.class <> 'stable' then t.witnesses end, k
		from generate_series(@from::int, @to::int) r, template t,
			lateral (select case when k <= @shared then k else @shared + (r - 1) * (@sites - @shared) + k - @shared end as id,
				case when k <= @bad and r > k % 50 and (k % 4 > 0 or r < @runs / 2) then case k % 3 when 0 then 'growing' else 'leak' end
					when k > @shared and ((r - 1) * (@sites - @shared) + k) % 100 = 0 then 'leak' else 'stable' end as class) own
		order by r, k`,
	`insert into sites (run_id, ordinal, signature_id, kind, heap, verdict, blame, place, outstanding_count, outstanding_bytes, growth_count, growth_bytes, series, flags, traces, stack_id, alias_ids, stack_key, score)
		select r, k - 1, id, 'heap', '0x3f0000', case when k % 100 = 0 then 'leak' else 'stable' end, blame, place, count, bytes, growth, growth * 64, series, '{}', traces, id, '{}', stack_key, 0.01
		from generate_series(@from::int, @to::int) r, template t, lateral (select case when k <= @shared then k else @shared + (r - 1) * (@sites - @shared) + k - @shared end as id) own
		order by r, k`,
	`insert into site_names (run_id, name, ordinals) select r, name, ordinals from generate_series(@from::int, @to::int) r, name_template order by r`,
}
