package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/migrations"
)

// An upload is one upload to a build, with its result.
type upload struct {
	build    string
	sequence *int64
	taken    time.Time // zero where the evidence does not say
	class    analysis.Class
}

// on is the time of evidence taken on a day of March.
func on(day int) time.Time { return time.Date(2025, 3, day, 9, 30, 0, 0, time.UTC) }

// upload takes an upload through the pipeline to its result: A has the upload's class, B is always there.
func (l *lab) upload(u upload) {
	l.Helper()
	target := leaks.UploadTarget{Project: "demo", Build: u.build, Sequence: u.sequence}
	e := addEvidence(l, l.Store, target, fmt.Sprint("a", u.sequence != nil, ".txt"))
	c := snapshot(1, 0)
	c.Snapshots[0].TakenAt = u.taken
	if err := l.CreateCaptures(l.Context(), claim(l, l.Store),
		[]store.StoredCapture{{Capture: c, ArtifactKey: "art", Bytes: 5}}); err != nil {
		l.Fatal(err)
	}
	name(l, l.Store, claim(l, l.Store), "names")
	report := leaksReport(finding{signature: "A", class: u.class, bytes: 7}, finding{signature: "B", class: stable})
	save(l, l.Store, claim(l, l.Store), report, "report", input(l, l.Store, e.RunID).Revision)
}

// order are the names of the project's builds, the oldest first.
func (l *lab) order() string {
	l.Helper()
	page := must[*store.BuildPage](l)(l.now().ListBuilds(l.Context(), store.BuildQuery{Project: "demo", Limit: 100}))
	slices.Reverse(page.Builds)
	return buildNames(page)
}

// told is what the project says of its leak A: its state, and the baseline of each build.
func (l *lab) told() string {
	l.Helper()
	lines := []string{l.order(), state(l.signature("A"))}
	for _, build := range strings.Fields(l.order()) {
		base, err := l.now().FindBaselineOfBuild(l.Context(), "demo", leaks.DefaultScenario, build)
		if err != nil {
			base = "-"
		}
		lines = append(lines, base)
	}
	return strings.Join(lines, "\n")
}

// permutations calls f with each order of a list.
func permutations[T any](list []T, f func([]T)) {
	var permute func(int)
	permute = func(n int) {
		if n == len(list) {
			f(list)
			return
		}
		for i := n; i < len(list); i++ {
			list[n], list[i] = list[i], list[n]
			permute(n + 1)
			list[n], list[i] = list[i], list[n]
		}
	}
	permute(0)
}

// The order in which builds are uploaded does not matter for their order, the states, the first bad and the last clean
// build and the baselines.
func TestOrderOfUploadsOfBuildsDoesNotCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, test := range map[string]struct {
		uploads []upload
		want    []string
	}{
		"names of one shape": {
			[]upload{{build: "b9", class: stable}, {build: "b10", class: leak}, {build: "b11", class: leak},
				{build: "b101", class: stable}},
			[]string{"b9 b10 b11 b101", "fixed bad b10..b11 clean b9 seen b101 fixed b101 regressed ", "-", "b9", "b10", "b11"},
		},
		"names of several shapes": {
			[]upload{{build: "nightly", taken: on(1), class: stable}, {build: "b10", taken: on(2), class: leak},
				{build: "rc", taken: on(3), class: stable}, {build: "b9", taken: on(4), class: leak}},
			[]string{"nightly b10 rc b9", "regressed bad b10..b9 clean nightly seen b9 fixed rc regressed b9", "-",
				"nightly", "b10", "rc"},
		},
		"numbers, and declared sequences": {
			[]upload{{build: "7", class: stable}, {build: "b1", sequence: new(int64(9)), class: leak},
				{build: "b2", sequence: new(int64(8)), class: stable}, {build: "10", class: leak}},
			[]string{"7 b2 b1 10", "new bad b1..10 clean b2 seen 10 fixed  regressed ", "-", "7", "b2", "b1"},
		},
		"a sequence that one of two uploads declares": {
			[]upload{{build: "4812", class: leak}, {build: "4812", sequence: new(int64(1)), class: leak},
				{build: "2", class: stable}, {build: "0", class: stable}},
			[]string{"0 4812 2", "fixed bad 4812..4812 clean 0 seen 2 fixed 2 regressed ", "-", "0", "4812"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			shared := newLab(t)
			permutations(test.uploads, func(uploads []upload) {
				var order []string
				for _, u := range uploads {
					order = append(order, u.build)
				}
				t.Run(strings.Join(order, " "), func(t *testing.T) {
					l := shared.emptied(t)
					for _, u := range uploads {
						l.upload(u)
					}
					if got, want := l.told(), strings.Join(test.want, "\n"); got != want {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
				})
			})
		})
	}
}

// A build whose name has another shape ends natural order: everything that depends on the order is computed again at
// once, and the audit of the project says so.
func TestOrderThatChanges(t *testing.T) {
	l := newLab(t)
	l.upload(upload{build: "b9", taken: on(2), class: stable})
	l.upload(upload{build: "b10", taken: on(1), class: leak})
	if got := state(l.signature("A")); got != "new bad b10..b10 clean b9 seen b10 fixed  regressed " {
		t.Error(got)
	}
	if lines := l.projectAudit(); len(lines) != 0 {
		t.Errorf("nothing moved yet: %v", lines)
	}
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "nightly"}, "a.txt")
	if got := l.order() + ": " +
		state(l.signature("A")); got != "b10 b9 nightly: fixed bad b10..b10 clean  seen b9 fixed b9 regressed " {
		t.Error(got)
	}
	if got, want := l.projectAudit(), []string{"order [b9 b10] -> [b10 b9]"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A sequence is declared: the older of the two builds becomes the newest.
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "b10", Sequence: new(int64(1))}, "a.txt")
	if got := l.order() + ": " +
		state(l.signature("A")); got != "b9 nightly b10: new bad b10..b10 clean b9 seen b10 fixed  regressed " {
		t.Error(got)
	}
	if got := l.projectAudit(); len(got) != 2 || got[0] != "order [b10 b9] -> [b9 b10]" {
		t.Errorf("%v", got)
	}
}

// The team's word follows the order of builds: a toleration until a build is over once that build takes its place
// before a bad one.
func TestTeamsWordFollowsTheOrder(t *testing.T) {
	l := newLab(t)
	l.upload(upload{build: "one", taken: on(1), class: leak})
	l.upload(upload{build: "three", taken: on(3), class: leak})
	until := "two"
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor", UntilBuild: until}, Version: -1})
	if got := l.signature("A").State; got != leaks.StateKnown {
		t.Fatal(got)
	}
	l.upload(upload{build: until, taken: on(2), class: stable})
	if got := l.order() + ": " + string(l.signature("A").State); got != "one two three: regressed" {
		t.Error(got)
	}
}

// projectAudit prints the audit of the project, newest first.
func (l *lab) projectAudit() (lines []string) {
	l.Helper()
	for _, r := range must[[]store.AuditRow](l)(l.now().ListProjectChanges(l.Context(), "demo",
		store.AuditPage{Limit: 100})) {
		var before, after struct {
			Builds []string
			More   int
		}
		for text, into := range map[*json.RawMessage]any{&r.Before: &before, &r.After: &after} {
			if err := json.Unmarshal(*text, into); err != nil {
				l.Fatal(err)
			}
		}
		lines = append(lines, fmt.Sprint(r.Action, " ", before.Builds, " -> ", after.Builds))
	}
	return lines
}

// Projects of an older version are ordered anew when the server starts on them; each whose order changes says so once.
func TestProjectsAreOrderedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	for _, u := range []upload{{build: "b11", class: stable}, {build: "b101", class: leak}, {build: "b10", class: stable},
		{build: "b9", class: leak}} {
		l.upload(u)
	}
	const want = "b9 b10 b11 b101\nregressed bad b9..b101 clean  seen b101 fixed b10 regressed b101\n-\nb9\nb10\nb11"
	l.sql(`insert into projects (name) values ('ordered')`)
	l.sql(`insert into builds (project_id, name, sequence) select id, i::text, i from projects, generate_series(1, 5) i where name = 'ordered'`)
	// The older version ordered builds by arrival, and derived the states from that.
	up, down, _ := strings.Cut(string(must[[]byte](t)(migrations.FS.ReadFile("00005_places.sql"))), "-- +goose Down")
	l.sql(down)
	l.sql(`update signatures set state = 'fixed', fixed_in_id = null where text = 'A'`)
	l.sql(up)
	l.sql(`alter table project_audit add column verified boolean not null default false`) // of a later migration
	if got := l.order(); got != "b11 b101 b10 b9" {
		t.Fatalf("the version before had the order %s", got)
	}
	url := l.conn.Config().ConnString()
	for range 2 {
		if err := store.Migrate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		if got := l.told(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if got, want := l.projectAudit(), []string{"order [b11 b101 b10 b9] -> [b9 b10 b11 b101]"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if rows := must[[]store.AuditRow](t)(l.now().ListProjectChanges(t.Context(), "ordered",
		store.AuditPage{Limit: 9})); len(rows) != 0 {
		t.Errorf("where nothing changed: %+v", rows)
	}
	if got := l.audited("A", "state"); len(got) == 0 || !strings.Contains(string(got[0].Before), "fixed") {
		t.Errorf("%+v", got)
	}
}

// Concurrent uploads that create builds of one project see each other's: every place takes all builds into account.
func TestBuildsThatComeAtOnce(t *testing.T) {
	l := newLab(t)
	names := []string{"b9", "b10", "b100", "nightly", "b11", "rc1", "rc10", "7"}
	var uploading sync.WaitGroup
	for _, build := range names {
		uploading.Go(func() {
			target := leaks.UploadTarget{Project: "demo", Build: build, Scenario: leaks.DefaultScenario, Run: "1"}
			if _, err := l.CreateEvidence(t.Context(), target,
				store.Evidence{Name: "a.txt", SHA256: build, Kind: "umdh"}); err != nil {
				t.Error(err)
			}
		})
	}
	uploading.Wait()
	type storedPlace struct {
		leaks.Build
		Place []byte
	}
	list := query(l, pgx.RowToStructByName[storedPlace], `select `+store.BuildColumns+`, place from builds`)
	var builds []leaks.Build
	for _, b := range list {
		builds = append(builds, b.Build)
	}
	for i, rank := range leaks.RankBuilds(builds) {
		if leaks.CompareRanks(rank, list[i].Place) != 0 {
			t.Errorf("build %s is at %x, want %x", builds[i].Name, list[i].Place, rank)
		}
	}
	if len(list) != len(names) {
		t.Errorf("%d builds", len(list))
	}
}
