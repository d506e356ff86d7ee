package store_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// finding is one signature of a run, with one site of which the raw stack is named.
type finding struct {
	signature string
	stack     string // the signature where it is ""
	class     analysis.Class
	bytes     int64 // that grew
	owner     string
	known     string
	blocks    int64 // allocated in a trace; 0 for a snapshot
	unbounded bool  // its growth has no interval
	callers   []string
	odds      *float64 // log odds that it leaks, by the evidence of the run; nil where it has none
}

// leaksReport is a report of findings. Its status is what they give, or "inconclusive" where that is said.
func leaksReport(findings ...finding) *analysis.Report {
	r := &analysis.Report{Process: analysis.Process{Name: "app.exe", PID: 1, Bits: 64},
		Verdict: analysis.EvidenceVerdict{Status: analysis.StatusNoLeak}}
	for _, f := range findings {
		p := 0.1
		switch f.class {
		case analysis.ClassLeak:
			p = 0.95
			r.Verdict.Status = analysis.StatusLeak
		case analysis.ClassGrowing:
			p = 0.6
		}
		if f.stack == "" {
			f.stack = f.signature
		}
		frame := &analysis.Frame{Module: "app", Function: "F" + f.stack, Offset: "0x10", Layer: "app", Rule: "own/pdb"}
		blame := &analysis.Blame{Module: "app", Function: "F" + f.stack}
		sum := sha256.Sum256([]byte(f.stack))
		amounts := analysis.Amounts{Outstanding: analysis.Amount{Count: 10, Bytes: 1000 + f.bytes},
			Growth: &analysis.Amount{Count: 1, Bytes: f.bytes}}
		var rate *score.Rate
		if f.bytes > 0 {
			rate = &score.Rate{Unit: "hour", Bytes: float64(f.bytes), Count: 1, Over: 1, Dispersion: 1 + float64(f.bytes),
				Unbounded: f.unbounded}
		}
		if f.blocks > 0 {
			amounts.Lifetimes = &analysis.Lifetimes{Allocated: analysis.Amount{Count: f.blocks}}
			r.Trace, r.Window = &analysis.Trace{}, &analysis.Window{ToNS: 1, DurationNS: 1}
		}
		var evidence *score.Evidence
		if f.odds != nil {
			evidence = &score.Evidence{Kind: score.KindFollowed, Snapshots: 8, Conditions: []float64{1}, LogOdds: *f.odds}
		}
		yes := true
		r.Findings = append(r.Findings, analysis.Finding{
			Signature: f.signature, Kind: "heap", Title: "malloc | app!F" + f.stack, Verdict: f.class, Score: &p,
			Certain: f.class == analysis.ClassLeak, Amounts: amounts,
			Sites: 1, Blame: blame, Frames: append([]string{"app!F" + f.stack}, f.callers...), Fine: "fine", Leaf: "leaf",
			Rate: rate, Owner: f.owner, Known: f.known,
			Evidence: evidence,
			Clauses:  []score.Clause{{Rule: "slope", Holds: &yes, Text: "grew"}},
			ByKind:   []analysis.KindResult{{Kind: "umdh-snapshot", Verdict: f.class}},
		})
		r.Sites = append(r.Sites, analysis.Site{
			Signature: f.signature, Kind: "heap", Amounts: amounts, Score: &p, Verdict: f.class, Blame: blame,
			Stack:    r.AddStack(frame),
			StackKey: analysis.Key(sum[:16]),
		})
	}
	return r
}

// A lab is a project under test.
type lab struct {
	testing.TB
	*store.Store
	conn *pgx.Conn
	runs map[string]int64 // by build/scenario/run
}

func newLab(t testing.TB) *lab {
	s, conn := open(t)
	return &lab{t, s, conn, map[string]int64{}}
}

// emptied is the lab of another test with an empty database. A new database, whose connections are not prepared, costs
// several times the work of a test with a few uploads. The other test must not use the lab any more.
func (l *lab) emptied(t testing.TB) *lab {
	t.Helper()
	if _, err := l.conn.Exec(t.Context(), `
		do $$
		declare name text;
		begin
			set local session_replication_role = replica; -- every table is emptied: there is nothing to check, nor to cascade to
			for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'goose_db_version' loop
				execute format('delete from %I', name);
			end loop;
		end $$`); err != nil {
		t.Fatal(err)
	}
	return &lab{t, l.Store, l.conn, map[string]int64{}}
}

// run stores a run of a place "build", "build/scenario" or "build/scenario/run".
func (l *lab) run(place string, r *analysis.Report) int64 {
	l.Helper()
	parts := append(strings.Split(place, "/"), "", "")
	target := leaks.UploadTarget{Project: "demo", Build: parts[0], Scenario: parts[1], Run: parts[2]}
	e := addEvidence(l, l.Store, target, "a.txt")
	if l.runs[place] == 0 { // read and named, in short
		l.sql(`
			with evidence as (update evidence set state = 'read' where id = $1),
				jobs as (delete from jobs where run_id = $2),
				capture as (
					insert into captures (evidence_id, ordinal, kind, process, pid, bits, artifact, artifact_bytes, outstanding_count, outstanding_bytes)
					values ($1, 0, 'umdh-snapshot', 'app.exe', 1, 64, 'art', 5, 1, 1) on conflict do nothing)
			update runs set input_rev = input_rev + 1 where id = $2`, e.ID, e.RunID)
		l.runs[place] = e.RunID
	} else {
		l.sql(`update runs set input_rev = input_rev + 1 where id = $1`, e.RunID)
	}
	l.sql(`insert into jobs (kind, run_id) values ('analyse', $1) on conflict do nothing`, e.RunID)
	l.save(e.RunID, r)
	return e.RunID
}

// save ends the queued analysis of a run.
func (l *lab) save(run int64, r *analysis.Report) {
	l.Helper()
	var job int64
	if err := l.conn.QueryRow(l.Context(),
		`select id from jobs where run_id = $1 and kind = 'analyse' and state = 'queued'`, run).Scan(&job); err != nil {
		l.Fatal(err)
	}
	lease := must[store.Lease](l)(l.ClaimJob(l.Context(), job, time.Minute))
	save(l, l.Store, lease, r, "report", input(l, l.Store, run).Revision)
}

// now is a View of the project at this moment.
func (l *lab) now() store.View { return storetest.Now(l, l.Store) }

func (l *lab) sql(statement string, args ...any) {
	l.Helper()
	if _, err := l.conn.Exec(l.Context(), statement, args...); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) signature(text string) store.Signature {
	l.Helper()
	return must[store.Signature](l)(l.now().FindSignature(l.Context(), "demo", text))
}

func (l *lab) change(signature string, c leaks.TriageChange) leaks.Triage {
	l.Helper()
	if c.Actor == "" {
		c.Actor = "ann"
	}
	return must[leaks.Triage](l)(l.UpdateTriage(l.Context(), "demo", signature, c))
}

func (l *lab) list(q store.SignatureQuery) *store.SignaturePage {
	l.Helper()
	q.Project = "demo"
	if q.Limit == 0 {
		q.Limit = 100
	}
	return must[*store.SignaturePage](l)(l.now().ListSignatures(l.Context(), q))
}

// listed prints the signatures of a page.
func listed(p *store.SignaturePage) string {
	var texts []string
	for _, r := range p.Rows {
		texts = append(texts, r.Text)
	}
	return strings.Join(texts, " ")
}

const (
	leak   = analysis.ClassLeak
	grows  = analysis.ClassGrowing
	stable = analysis.ClassStable
	cache  = analysis.ClassCache
)

// state prints the facts of a signature that pages show at a glance.
func state(s store.Signature) string {
	return fmt.Sprintf("%s bad %s..%s clean %s seen %s fixed %s regressed %s", s.State, s.FirstBad, s.LastBad, s.LastClean,
		s.LastSeen, s.FixedIn, s.RegressedIn)
}
