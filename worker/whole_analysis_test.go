package worker

import (
	"bytes"
	"context"
	"heapdrift/internal/await"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/blob"
	"heapdrift/internal/corpus"
	"heapdrift/internal/demo"
	"heapdrift/internal/embedded"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/queue"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// analyseHere is analyse in this process, with the report as the analysis made it.
func (w *Worker) analyseHere(ctx context.Context, job *queue.Job) error {
	in, err := store.Read(ctx, w.Store, func(v store.View) (store.AnalysisInput, error) {
		return v.FindAnalysisInput(ctx, job.RunID)
	})
	if err != nil {
		return err
	}
	h := &host{worker: w, job: job, open: func(ctx context.Context, file int) (blob.Content, error) {
		return openInput(ctx, w.Blobs, &in, file)
	}}
	t := reportTask(&in)
	made, err := t.Do(ctx, h)
	if err != nil {
		return err
	}
	table, _ := tableOf(made, in.Captures)
	return w.Store.UpdateResult(ctx, job.Lease, store.Result{Report: h.report, ReportKey: h.reportKey, Revision: in.Revision, Table: table})
}

// stored are the results of all runs as the database has them. Times, revisions and ids of rows differ each time.
const stored = `
	with results as (
		select 'runs' of, to_jsonb(t) - 'analysed_at' - 'report_rev' - 'input_rev' - 'decided_at' - 'completed_at' r from runs t
		union all select 'sites', to_jsonb(t) from sites t
		union all select 'site_names', to_jsonb(t) from site_names t
		union all select 'findings', to_jsonb(t) - 'id' from findings t
		union all select 'signatures', to_jsonb(t) from signatures t
		union all select 'frames', to_jsonb(t) from frames t
		union all select 'stacks', to_jsonb(t) from stacks t)
	select of, r::text from results order by 1, 2`

// work runs jobs, meanwhile begin, and returns when no jobs are left.
func work(t *testing.T, conn *pgx.Conn, s *store.Store, handlers map[string]queue.Handler, begin func()) {
	t.Helper()
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	node, err := queue.New(s, handlers, queue.Options{RedisURL: "redis://" + broker.Addr(), Poll: 30 * time.Millisecond, FreshBroker: true,
		Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	begin()
	await.Until(t, "the jobs to end", func() bool {
		var left int
		err := conn.QueryRow(t.Context(), `select count(*) from jobs where state in ('queued', 'running')`).Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
}

// listStored lists what is stored, by table and row.
func listStored(t *testing.T, conn *pgx.Conn) (rows []string) {
	t.Helper()
	all, err := conn.Query(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	for all.Next() {
		var table, row string
		if err := all.Scan(&table, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, table+" "+row)
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// The report that a child process makes, and all that is stored of it, is byte for byte that of an analysis in this
// process, over the evidence of the demo and of the laboratory.
func TestReportsOfChildrenAreWhole(t *testing.T) {
	if testing.Short() || !sandbox.Supported {
		t.Skip("it takes seconds, and needs child processes")
	}
	s, conn := storetest.Open(t)
	blobs := newBlobs(t)
	in := &intake.Intake{Store: s, Blobs: blobs}
	w := &Worker{Store: s, Blobs: blobs, Sandbox: &sandbox.Runner{}}
	work(t, conn, s, w.Handlers(), func() {
		if _, err := demo.Load(t.Context(), in, s); err != nil {
			t.Fatal(err)
		}
		for scenario, files := range map[string]string{
			"logs": "lab/A/umdh_x64/snap*.txt", "differences": "lab/A/umdh_x64/diff_*.dec.txt",
			"trace": "lab/A/etl_x64/merged_compressed.etl", "leaks": "lab/D/b10*/*/*[0-9].[et][tx][lt]",
		} {
			list, err := filepath.Glob(filepath.Join(corpus.Path(t), files))
			if err != nil || len(list) == 0 {
				t.Fatalf("%s: %v, %v", files, list, err)
			}
			for _, path := range list {
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				target := leaks.UploadTarget{Project: "lab", Build: "1", Scenario: scenario}
				if _, err := in.Accept(t.Context(), target, filepath.Base(path), bytes.NewReader(content)); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	// again analyses all runs, in the same order each time.
	again := func(analyse queue.Handler) []string {
		work(t, conn, s, map[string]queue.Handler{store.JobAnalyse: analyse}, func() {
			for _, statement := range []string{`update runs set input_rev = input_rev + 1`,
				`insert into jobs (kind, run_id) select 'analyse', id from runs order by id`} {
				if _, err := conn.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
		})
		return listStored(t, conn)
	}
	before, after := again(w.analyse), again(w.analyseHere)
	if len(before) < 1000 {
		t.Errorf("%d rows", len(before))
	}
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			t.Fatalf("by a child process\n%.3000s\nin this process\n%.3000s", before[i], after[i])
		}
	}
	if len(before) != len(after) {
		t.Errorf("%d rows by child processes, %d in this one", len(before), len(after))
	}
}
