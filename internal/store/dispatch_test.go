package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A queueLab has jobs arrive and go to the broker at times that it chooses.
type queueLab struct {
	*lab
	files int
}

func newQueueLab(t *testing.T) *queueLab { return &queueLab{lab: newLab(t)} }

// An arrival is a file that is uploaded: "project/run".
type arrival struct {
	run    string
	urgent bool
	bytes  int64
}

// add uploads a file and returns its job.
func (l *queueLab) add(a arrival) int64 {
	l.Helper()
	l.files++
	project, run, _ := strings.Cut(a.run, "/")
	target := leaks.UploadTarget{Project: project, Build: "1", Scenario: "s", Run: run, Urgent: a.urgent}
	e := must[store.Evidence](l)(l.CreateEvidence(l.Context(), target,
		store.Evidence{Name: fmt.Sprint(l.files), SHA256: fmt.Sprint(l.files), Bytes: max(a.bytes, 1), Kind: "umdh"}))
	var job int64
	if err := l.conn.QueryRow(l.Context(), `select id from jobs where evidence_id = $1`, e.ID).Scan(&job); err != nil {
		l.Fatal(err)
	}
	return job
}

// send hands over as many jobs as there is room for, and names their runs.
func (l *queueLab) send(light, heavy int) (runs string) {
	l.Helper()
	var names []string
	for _, d := range must[[]store.DueJob](l)(l.DispatchJobs(l.Context(), time.Hour, store.DispatchLimit{Light: light, Heavy: heavy})) {
		var name string
		if err := l.conn.QueryRow(l.Context(), `
			select p.name || '/' || r.name from jobs j join runs r on r.id = j.run_id join builds b on b.id = r.build_id
				join projects p on p.id = b.project_id where j.id = $1`, d.ID).Scan(&name); err != nil {
			l.Fatal(err)
		}
		if d.Heavy {
			name += " (heavy)"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// run ends what lies with the broker and hands over one job after another.
func (l *queueLab) run(jobs int) string {
	l.Helper()
	var runs []string
	for range jobs {
		l.sql(`update jobs set state = 'done' where sent_at is not null and state = 'queued'`)
		runs = append(runs, l.send(1, 1))
	}
	return strings.Join(runs, " ")
}

// Projects take turns, and in a project the runs do, whether a run has a report or not and however long the others
// wait already. Handing over many at once keeps the order of handing over one by one.
func TestTurns(t *testing.T) {
	backlog := []arrival{{run: "a/1"}, {run: "a/1"}, {run: "a/1"}, {run: "a/2"}, {run: "a/2"}, {run: "a/3"}}
	for what, test := range map[string]struct {
		arrivals []arrival
		want     string
	}{
		"runs of a project":  {backlog, "a/1 a/2 a/3 a/1 a/2 a/1"},
		"a project behind":   {append(backlog, arrival{run: "b/1"}, arrival{run: "b/1"}), "a/1 b/1 a/2 b/1 a/3 a/1 a/2 a/1"},
		"several projects":   {append(backlog, arrival{run: "b/1"}, arrival{run: "c/1"}), "a/1 b/1 c/1 a/2 a/3 a/1 a/2 a/1"},
		"a person waits":     {append(backlog, arrival{run: "b/1", urgent: true}), "a/1 b/1 a/2 a/3 a/1 a/2 a/1"},
		"several persons do": {append(backlog[:4:4], arrival{run: "b/1", urgent: true}, arrival{run: "c/1", urgent: true}), "a/1 b/1 a/2 c/1 a/1 a/1"},
	} {
		for how, send := range map[string]func(*queueLab, int) string{
			"one by one": (*queueLab).run,
			"at once":    func(l *queueLab, n int) string { return l.send(n, 1) },
		} {
			t.Run(what+"/"+how, func(t *testing.T) {
				l := newQueueLab(t)
				for _, a := range test.arrivals {
					l.add(a)
				}
				l.sql(`update runs set report_key = 'x' where name = '1'`)
				if got := send(l, len(test.arrivals)); got != test.want {
					t.Errorf("%s\nwant %s", got, test.want)
				}
			})
		}
	}
}

// Who comes goes to the end: a project or a run that has had a turn since does not wait for all that come after.
func TestWhoComesGoesToTheEnd(t *testing.T) {
	l := newQueueLab(t)
	for _, run := range []string{"a/1", "a/1", "a/1", "a/2"} {
		l.add(arrival{run: run})
	}
	got := l.run(2)
	l.add(arrival{run: "b/1"})
	l.add(arrival{run: "a/3"})
	if got += " " + l.run(4); got != "a/1 a/2 a/1 b/1 a/3 a/1" {
		t.Error(got)
	}
}

// Each kind has its own room at the broker.
func TestRoomAtTheBroker(t *testing.T) {
	l := newQueueLab(t)
	for range 3 {
		l.add(arrival{run: "a/1"})
	}
	l.add(arrival{run: "a/large", bytes: 256<<20 + 1})
	l.add(arrival{run: "a/limit", bytes: 256 << 20})
	if got, want := l.send(2, 1), "a/1 a/large (heavy) a/limit"; got != want {
		t.Errorf("first %s, want %s", got, want)
	}
	if got := l.send(2, 1); got != "" {
		t.Errorf("%s: nothing has been taken, so there is no room", got)
	}
	if got, want := l.send(3, 2), "a/1"; got != want {
		t.Errorf("then %s, want %s", got, want)
	}
}

// Jobs that wait at the broker for longer than the resend interval are handed over again and take their room still:
// else the backlog would move to the broker, where nobody takes turns.
func TestBrokerTakesNoMore(t *testing.T) {
	l := newQueueLab(t)
	for n := range 20 {
		l.add(arrival{run: fmt.Sprintf("a/%d", n)})
	}
	first := l.send(3, 1)
	for range 3 {
		l.sql(`update jobs set sent_at = sent_at - interval '2 hours' where sent_at is not null`)
		if again := l.send(3, 1); again != first {
			t.Errorf("handed over again: %s, want %s", again, first)
		}
	}
	l.sql(`update jobs set state = 'done' where sent_at is not null`)
	if next := l.send(3, 1); next != "a/3 a/4 a/5" {
		t.Errorf("then %s", next)
	}
}

// The fourth snapshot of a run that has a report goes within a round, however many younger runs of other projects wait
// for their first.
func TestRunWithReportWaitsForOneRound(t *testing.T) {
	l := newQueueLab(t)
	for range 3 {
		l.add(arrival{run: "soak/hourly"})
	}
	l.run(3)
	l.sql(`update runs set report_key = 'x'`)
	for i := range 60 {
		l.add(arrival{run: fmt.Sprintf("p%d/%d", i%3, i)})
	}
	l.add(arrival{run: "soak/hourly"})
	for i := range 30 {
		l.add(arrival{run: fmt.Sprintf("p%d/late%d", i%3, i)})
	}
	if got := l.run(4); !strings.Contains(got, "soak/hourly") {
		t.Errorf("%s: four projects wait, so a round is four jobs", got)
	}
}

// A turnLaw counts the jobs that go while a run waits for its turn. The limit is the product of three counts: the runs
// of its project that waited when it came, itself included; the projects; and two, since every other turn is a person's
// where persons wait.
type turnLaw struct {
	projects int
	jobs     map[string]int        // that wait, by run
	waits    map[string]*turnCount // by run
}

type turnCount struct{ gone, limit int }

// project is the part of a run's key that its project's runs share.
func project(run string) string {
	before, _, _ := strings.Cut(run, "/")
	return before
}

func (w *turnLaw) stand(run string) {
	front := 0
	for other, jobs := range w.jobs {
		if jobs > 0 && project(other) == project(run) {
			front++
		}
	}
	w.waits[run] = &turnCount{limit: 2 * w.projects * front}
}

func (w *turnLaw) add(run string) {
	if w.jobs[run]++; w.jobs[run] == 1 {
		w.stand(run)
	}
}

// sent takes note of a job that goes, and returns the run that has waited for too long.
func (w *turnLaw) sent(run string) (late string) {
	delete(w.waits, run)
	for other, count := range w.waits {
		if count.gone++; count.gone > count.limit {
			late = fmt.Sprintf("%s has waited for %d jobs, its limit is %d", other, count.gone, count.limit)
		}
	}
	if w.jobs[run]--; w.jobs[run] > 0 {
		w.stand(run)
	}
	return late
}

// Whatever comes when, no run waits longer than the law of turns allows.
func TestLawOfTurns(t *testing.T) {
	const projects, steps = 5, 120
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l, draw := newQueueLab(t), rand.New(rand.NewPCG(seed, 44))
			law := turnLaw{projects, map[string]int{}, map[string]*turnCount{}}
			key := map[bool]string{false: "program ", true: "person "}
			for range steps {
				for range draw.IntN(4) {
					p := draw.IntN(projects) * draw.IntN(2) // half of all comes for one project
					n := draw.IntN(6)
					a := arrival{run: fmt.Sprintf("p%d/%d", p, n), urgent: n == 5} // a turn of a run counts whoever waits
					l.add(a)
					law.add(key[a.urgent] + a.run)
				}
				run := l.run(1)
				if run == "" {
					continue
				}
				var urgent bool
				if err := l.conn.QueryRow(t.Context(), `
					select e.urgent from jobs j join evidence e on e.id = j.evidence_id where j.state = 'queued' and j.sent_at is not null`).
					Scan(&urgent); err != nil {
					t.Fatal(err)
				}
				if late := law.sent(key[urgent] + run); late != "" {
					t.Fatal(late)
				}
			}
		})
	}
}
