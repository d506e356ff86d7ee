package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/embedded"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// withoutIndexes calls fill while the tables have no indexes, so that filling them is a matter of minutes.
func (l *lab) withoutIndexes(tables []string, fill func()) {
	rows, err := l.conn.Query(l.Context(), `
		select case when c.oid is null then format('drop index %s', i.indexrelid::regclass) else format('alter table %s drop constraint %s', i.indrelid::regclass, c.conname) end,
			case when c.oid is null then pg_get_indexdef(i.indexrelid) else format('alter table %s add %s', i.indrelid::regclass, pg_get_constraintdef(c.oid)) end
		from pg_index i left join pg_constraint c on c.conindid = i.indexrelid where i.indrelid::regclass::text = any($1)`, tables)
	if err != nil {
		l.Fatal(err)
	}
	var drop, add string
	var drops, adds []string
	if _, err := pgx.ForEachRow(rows, []any{&drop, &add}, func() error {
		drops, adds = append(drops, drop), append(adds, add)
		return nil
	}); err != nil {
		l.Fatal(err)
	}
	for _, statement := range drops {
		l.sql(statement)
	}
	fill()
	l.sql(`set maintenance_work_mem = '512MB'`)
	for _, statement := range adds {
		l.sql(statement)
	}
}

// history is a project with a long history. HEAPDRIFT_HISTORY_DIR keeps a history of large size for later benchmarks.
func history(b *testing.B) *lab {
	size := scaleOf()
	url := historyServer(b)
	s, err := store.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	l := &lab{b, s, conn, map[string]int64{}}
	var there bool
	if err := conn.QueryRow(b.Context(), `select exists (select from projects)`).Scan(&there); err != nil || there {
		return l
	}
	began := time.Now()
	numbers := func(from, to int) *strings.Replacer {
		return strings.NewReplacer("@runs", fmt.Sprint(size.runs), "@sites", fmt.Sprint(size.sites), "@shared",
			fmt.Sprint(size.shared), "@bad", fmt.Sprint(size.bad),
			"@from", fmt.Sprint(from), "@to", fmt.Sprint(to))
	}
	for _, statement := range slices.Concat(historySQL, historyTemplateSQL) {
		l.sql(numbers(0, 0).Replace(statement))
	}
	l.withoutIndexes([]string{"sites", "findings"}, func() {
		for from := 1; from <= size.runs; from += 50 {
			for _, statement := range historyRunsSQL {
				l.sql(numbers(from, min(from+49, size.runs)).Replace(statement))
			}
		}
	})
	b.Logf("filled in %v", time.Since(began).Round(time.Second))
	l.sql(`vacuum analyze`)
	b.Logf("generated %d runs of %d sites in %v", size.runs, size.sites, time.Since(began).Round(time.Second))
	// The builds are in no order yet: ordering them also computes the states of all signatures that ever leaked.
	began = time.Now()
	if err := s.UpdateBuildOrder(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("followed the history of all that leaked in %v", time.Since(began).Round(time.Millisecond))
	l.sql(`vacuum analyze signatures`)
	return l
}

// historyServer is a server with the settings of a small installation, so that the measurements do not depend on
// settings for tests.
func historyServer(b *testing.B) string {
	dir := os.Getenv("HEAPDRIFT_HISTORY_DIR")
	if dir == "" {
		dir = b.TempDir()
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // the server may run as another account
			b.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	settings := map[string]string{"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
		"autovacuum": "off", "wal_level": "minimal", "max_wal_senders": "0"}
	postgres, err := embedded.StartPostgres(b.Context(),
		embedded.PostgresOptions{Dir: filepath.Join(dir, "postgres"), Settings: settings})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := postgres.Stop(); err != nil {
			b.Error(err)
		}
	})
	if err := store.Migrate(b.Context(), postgres.URL()); err != nil {
		b.Fatal(err)
	}
	return postgres.URL()
}

func BenchmarkHistory(b *testing.B) {
	l := history(b)
	var head, base string
	var run int64
	err := l.conn.QueryRow(b.Context(), `
		select b.name, (select name from builds where sequence = b.sequence - 1), r.id from runs r join builds b on b.id = r.build_id
		where b.sequence = (select max(sequence) from builds) order by r.id limit 1`).Scan(&head, &base, &run)
	if err != nil {
		b.Fatal(err)
	}
	text := l.text(`select text from signatures where text = 'sig1:' || md5('s7')`)
	for _, page := range []struct {
		name string
		read func(v store.View) error
	}{
		{"project", func(v store.View) error {
			if _, err := v.ListBuilds(b.Context(), store.BuildQuery{Project: "demo", Limit: 50}); err != nil {
				return err
			}
			_, err := v.ListSignatures(b.Context(), store.SignatureQuery{Project: "demo", Limit: 20, Strip: 30})
			return err
		}},
		{"signatures", func(v store.View) error {
			_, err := v.ListSignatures(b.Context(), store.SignatureQuery{Project: "demo", Limit: 50, Strip: 60})
			return err
		}},
		{"signatures by last seen and text", func(v store.View) error {
			_, err := v.ListSignatures(b.Context(),
				store.SignatureQuery{Project: "demo", Limit: 50, Strip: 60, Order: "last-seen", Text: "function1"})
			return err
		}},
		{"signatures that never leaked", func(v store.View) error {
			_, err := v.ListSignatures(b.Context(), store.SignatureQuery{Project: "demo", Limit: 50, Strip: 60, Class: "stable"})
			return err
		}},
		{"stacks of a signature", func(v store.View) error {
			list, err := v.FindNewestLeakStacks(b.Context(), 7, run)
			if err == nil && len(list.Seen) == 0 {
				return errors.New("no stacks")
			}
			return err
		}},
		{"witnesses of a signature", func(v store.View) error {
			_, _, err := v.ListLeakEvidence(b.Context(), 7, run)
			return err
		}},
		{"open leaks by module", func(v store.View) error {
			_, err := v.ListLeakingModules(b.Context(), "demo")
			return err
		}},
		{"compare", func(v store.View) error {
			c, err := v.Compare(b.Context(), leaks.ComparisonQuery{Project: "demo", Scenario: "soak", Base: base, Head: head})
			if err == nil && len(c.Rows) == 0 {
				return errors.New("nothing to compare")
			}
			return err
		}},
		{"signature", func(v store.View) error {
			if _, err := v.FindHistory(b.Context(), "demo", text); err != nil {
				return err
			}
			if _, err := v.ListSignatureChanges(b.Context(), "demo", text, store.AuditPage{Limit: 50}); err != nil {
				return err
			}
			_, err := v.ListComments(b.Context(), "demo", text)
			return err
		}},
		{"run", func(v store.View) error {
			if _, err := v.FindRun(b.Context(), run); err != nil {
				return err
			}
			if _, _, err := v.ListFindings(b.Context(), store.FindingQuery{RunID: run, Limit: 50}); err != nil {
				return err
			}
			_, _, err := v.ListSites(b.Context(), store.SiteQuery{RunID: run, Limit: 50})
			return err
		}},
		{"stacks for a preview of rules", func(v store.View) error {
			_, err := v.ListRuleStacks(b.Context(), "demo", 1000)
			return err
		}},
	} {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				if err := l.View(b.Context(), page.read); err != nil {
					b.Fatal(err)
				}
			}
			perPage(b)
		})
	}
	b.Run("triage", func(b *testing.B) {
		for b.Loop() {
			who := fmt.Sprint(time.Now().UnixNano() % 1e6)
			if _, err := l.UpdateTriage(b.Context(), "demo", text,
				leaks.TriageChange{Actor: "ann", Version: -1, Assignee: &who}); err != nil {
				b.Fatal(err)
			}
		}
		perPage(b)
	})
	b.Run("result", func(b *testing.B) {
		size := scaleOf()
		var list []finding
		for i := range size.sites {
			f := finding{signature: fmt.Sprintf("sig1:%d", i), class: stable}
			if i%100 == 0 {
				f.class = leak
			}
			list = append(list, f)
		}
		// No View stays open behind the loop: an open View would keep the rows that each result replaces.
		page := must[*store.SignaturePage](b)(store.Read(b.Context(), l.Store,
			func(v store.View) (*store.SignaturePage, error) {
				return v.ListSignatures(b.Context(), store.SignatureQuery{Project: "demo", Limit: size.bad})
			}))
		for _, signature := range page.Rows {
			list = append(list, finding{signature: signature.Text, class: leak})
		}
		r := leaksReport(list...)
		for b.Loop() {
			l.run("1002/soak", r)
		}
		b.ReportMetric(float64(len(list))*float64(b.N)/b.Elapsed().Seconds(), "sites/s")
	})
	for _, table := range []string{"sites", "findings", "signatures"} {
		b.Logf("%s: %s", table, l.text(`select count(*) || ' rows, ' || pg_total_relation_size('`+table+
			`') / 1000000 || ' MB, of it indexes ' || pg_indexes_size('`+table+`') / 1000000 || ' MB' from `+table))
	}
}

func perPage(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/page")
}

func (l *lab) text(query string) (text string) {
	l.Helper()
	if err := l.conn.QueryRow(l.Context(), query).Scan(&text); err != nil {
		l.Fatal(err)
	}
	return text
}
