package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// largeTables grow with each run: no page may read one of them whole.
var largeTables = []string{"sites", "findings", "absences", "signatures", "runs", "run_modules", "jobs", "decisions", "evidence", "captures",
	"symbol_files", "failures"}

// readWhole are the statements that read a large table whole, by a part of their text, with the reason.
var readWhole = map[string]string{
	"with counted as (select build_id": "the board counts all runs of the server",
}

// fillForPlans stores some thousand rows in the large tables, around three runs with reports.
func (l *lab) fillForPlans() {
	l.Helper()
	for _, build := range []string{"1", "2", "3"} {
		l.run(build, leaksReport(finding{signature: "A", class: leak, bytes: 7, callers: []string{"app!main"}},
			finding{signature: "B", class: stable}))
	}
	for _, statement := range []string{
		`insert into projects (name) select 'p' || i from generate_series(1, 20) i`,
		`insert into scenarios (project_id, name) select id, 'soak' from projects on conflict do nothing`,
		`insert into builds (project_id, name, place) select p.id, 'b' || i, int4send(i) from projects p, generate_series(1, 20) i`,
		`insert into runs (build_id, scenario_id, name, analysed_at, status, summary, report_key)
			select b.id, sc.id, n::text, now(), 'leak', (select summary from runs limit 1), 'key' from builds b join scenarios sc on sc.project_id = b.project_id, generate_series(1, 5) n on conflict do nothing`,
		`insert into signatures (project_id, text, root_id, kind, title, bad, worst, state, class)
			select p.id, 'S' || i, 0, 'heap', 'malloc', i < 20, case when i < 20 then 'leak' else '' end, case when i < 20 then 'new' else '' end, 'stable' from projects p, generate_series(1, 200) i`,
		`update signatures set root_id = id where root_id = 0`,
		`insert into findings (run_id, signature_id, class, sites, outstanding_count, outstanding_bytes)
			select r.id, s.id, case when s.bad then 'leak' else 'stable' end, 1, 1, 1 from runs r join builds b on b.id = r.build_id join signatures s on s.project_id = b.project_id and s.id % 7 = r.id % 7 on conflict do nothing`,
		`insert into sites (run_id, ordinal, signature_id, kind, heap, verdict, blame, place, outstanding_count, outstanding_bytes, series, flags, traces, alias_ids)
			select run_id, row_number() over (partition by run_id) + 100, signature_id, 'heap', '', class, 'm!f', '', 1, 1, '{}', '{}', '{}', '{}' from findings`,
		`insert into absences (run_id, signature_id, frame, blamed, stacks) select r.id, s.id, 'f', true, 1 from runs r join builds b on b.id = r.build_id join signatures s on s.project_id = b.project_id and s.bad and s.id % 7 <> r.id % 7 on conflict do nothing`,
		`insert into decisions (run_id, fail_on, baseline, matters, decision) select id, '', '', '', '{"gate": "failed"}' from runs`,
		`insert into evidence (run_id, name, sha256, bytes, kind) select id, 'a.txt', md5(id::text), 1, 'umdh-snapshot' from runs on conflict do nothing`,
		`insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, outstanding_count, outstanding_bytes)
			select id, 0, 'umdh-snapshot', 'app.exe', 1, 64, '', 1, 1, 1 from evidence on conflict do nothing`,
		`insert into jobs (kind, run_id, state, ended_at) select 'analyse', id, 'done', now() from runs`,
		`insert into failures (signature_id, run_id) select signature_id, run_id from findings where class = 'leak' on conflict do nothing`,
		`insert into run_modules (run_id, ordinal, name, stem, pdb, debug_id, size, bits, symbols, match, own, unproven, frames, unnamed, stake_count, stake_bytes, tried)
			select id, n + 100, 'm' || n || '.dll', 'm' || n, '', '', 1, 64, 'none', '', true, false, 1, n % 2, 1, 1, '[]' from runs, generate_series(1, 5) n`,
		`insert into symbol_files (kind, name, folded, key, debug_id, pdb, timestamp, size_of_image, bits, machine, symbols, note, sha256, bytes, origin, "group")
			select 'pdb', 'm.pdb', 'm.pdb', i::text, '', '', 0, 0, 64, '', 'private', '', md5(i::text), 1, 'upload', '' from generate_series(1, 1000) i`,
		`analyze`,
	} {
		l.sql(statement)
	}
}

// A statementLog keeps the statements of a connection, each once, with the arguments that came first.
type statementLog struct {
	args  map[string][]any
	order []string
}

// TraceQueryStart implements pgx.QueryTracer.
func (s *statementLog) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if _, known := s.args[data.SQL]; !known {
		s.args[data.SQL] = data.Args
		s.order = append(s.order, data.SQL)
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*statementLog) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A planNode is a part of a plan.
type planNode struct {
	Type      string     `json:"Node Type"`
	Relation  string     `json:"Relation Name"`
	Index     string     `json:"Index Name"`
	Condition string     `json:"Index Cond"`
	Plans     []planNode `json:"Plans"`
}

// whole lists the large tables that a plan reads from their beginning to their end, also by an index without a condition.
// An index of few rows counts as a condition.
func (n *planNode) whole(partial []string) (list []string) {
	reads := n.Type == "Seq Scan" || strings.HasPrefix(n.Type, "Index") && n.Condition == "" && !slices.Contains(partial, n.Index)
	if reads && slices.Contains(largeTables, n.Relation) {
		list = append(list, fmt.Sprintf("%s of %s %s", n.Type, n.Relation, n.Index))
	}
	for i := range n.Plans {
		list = append(list, n.Plans[i].whole(partial)...)
	}
	return list
}

// pagesOf reads what the pages and the answers of the API show most.
func pagesOf(ctx context.Context, v store.View, run int64) error {
	head, err := v.FindRun(ctx, run)
	if err != nil {
		return err
	}
	leak := leaks.ComparisonQuery{Project: "demo", Scenario: head.Scenario}
	for _, read := range []func() error{
		func() error { _, err := v.FindSummary(ctx, run); return err },
		func() error { _, err := v.ListEvidence(ctx, run); return err },
		func() error { _, err := v.ListJobs(ctx, run); return err },
		func() error { _, _, err := v.ListSites(ctx, store.SiteQuery{RunID: run, Limit: 20}); return err },
		func() error { _, _, err := v.ListFindings(ctx, store.FindingQuery{RunID: run, Limit: 20}); return err },
		func() error { _, err := v.FindVerdict(ctx, &head, store.GateQuestion{}); return err },
		func() error { _, err := v.ListDecisions(ctx, run); return err },
		func() error { _, err := v.FindCoverage(ctx, "demo", 6); return err },
		func() error { _, err := v.ListCoverages(ctx, []string{"demo", "p1"}, 6); return err },
		func() error { _, err := v.ListWorstFindings(ctx, []int64{run}); return err },
		func() error { _, err := v.ListLastDecisions(ctx, []int64{run}); return err },
		func() error { _, err := v.ListOpenLeakCounts(ctx, []string{"demo", "p1"}); return err },
		func() error { _, err := v.ListProjects(ctx, storetest.Anybody); return err },
		func() error {
			_, err := v.ListSignatures(ctx, store.SignatureQuery{Project: "demo", Limit: 20, Strip: 60})
			return err
		},
		func() error {
			_, err := v.ListSignatures(ctx, store.SignatureQuery{Project: "p1", Class: "stable", Text: "malloc", Limit: 20})
			return err
		},
		func() error { _, err := v.ListBuilds(ctx, store.BuildQuery{Project: "demo", Limit: 10}); return err },
		func() error { _, err := v.ListLeakingModules(ctx, "demo"); return err },
		func() error { _, err := v.FindHistory(ctx, "demo", "A"); return err },
		func() error { _, err := v.Compare(ctx, leak); return err },
		func() error { _, err := v.ListWantedModules(ctx, "demo", 10); return err },
		func() error { _, err := v.FindBuild(ctx, "demo", "2"); return err },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// No statement of a page or an answer reads a large table whole. Sequential scans, and the joins that want them, are as
// dear as can be here, so that one stands only where no index serves: which plan is the cheapest depends on the rows of a
// server.
func TestNoPageReadsALargeTableWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	l.fillForPlans()
	config := l.conn.Config().Copy()
	statements := &statementLog{args: map[string][]any{}}
	config.Tracer = statements
	conn := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), config))
	defer func() { _ = conn.Close(context.Background()) }()
	tx := must[pgx.Tx](t)(conn.Begin(t.Context()))
	if err := pagesOf(t.Context(), store.ViewIn(tx), l.runs["3"]); err != nil {
		t.Fatal(err)
	}
	statements.order = slices.DeleteFunc(statements.order, func(sql string) bool { return sql == "begin" })
	if len(statements.order) < 20 {
		t.Errorf("the pages have %d statements", len(statements.order))
	}
	partial := query(l, pgx.RowTo[string], `select indexrelid::regclass::text from pg_index where indpred is not null`)
	l.sql(`set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off`)
	used := map[string]bool{}
	for _, sql := range statements.order {
		var text []byte
		if err := l.conn.QueryRow(t.Context(), `explain (format json) `+sql, statements.args[sql]...).Scan(&text); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal(text, &plans); err != nil {
			t.Fatal(err)
		}
		whole := plans[0].Plan.whole(partial)
		excused := ""
		for part := range readWhole {
			if strings.Contains(sql, part) {
				excused = part
			}
		}
		switch {
		case len(whole) > 0 && excused == "":
			t.Errorf("%s\nreads whole: %s", sql, strings.Join(whole, "; "))
		case len(whole) > 0:
			used[excused] = true
		}
	}
	for part, why := range readWhole {
		if !used[part] {
			t.Errorf("no statement with %q reads a table whole (%s)", part, why)
		}
	}
}
