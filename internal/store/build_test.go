package store_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

func TestBuildsAreOrderedBySequence(t *testing.T) {
	s, _ := open(t)
	five := int64(5)
	for _, build := range []leaks.UploadTarget{
		{Project: "p", Build: "30"}, {Project: "p", Build: "first-undeclared"}, {Project: "p", Build: "100"},
		{Project: "p", Build: "9"},
		{Project: "p", Build: "second-undeclared"}, {Project: "p", Build: "feature", Sequence: &five, Branch: "dev"},
	} {
		addEvidence(t, s, build, "a.txt")
	}
	page := must[*store.BuildPage](t)(storetest.Now(t, s).ListBuilds(t.Context(), store.BuildQuery{Project: "p",
		Limit: 100}))
	var names []string
	for _, b := range page.Builds {
		names = append(names, b.Name)
		if len(b.Runs) != 1 || b.Runs[0].State() != "processing" {
			t.Errorf("build %s: %+v", b.Name, b.Runs)
		}
	}
	if want := []string{"100", "30", "9", "feature", "second-undeclared", "first-undeclared"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if _, err := storetest.Now(t, s).ListBuilds(t.Context(), store.BuildQuery{Project: "nobody",
		Limit: 100}); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("unknown project: %v", err)
	}
	projects := must[[]store.Project](t)(storetest.Now(t, s).ListProjects(t.Context(), storetest.Anybody))
	if len(projects) != 1 || projects[0].Builds != 6 || projects[0].Runs != 6 {
		t.Errorf("projects: %+v", projects)
	}
}

// buildNames prints the builds of a page.
func buildNames(p *store.BuildPage) string {
	var names []string
	for _, b := range p.Builds {
		names = append(names, b.Name)
	}
	return strings.Join(names, " ")
}

func TestBuildsInPages(t *testing.T) {
	s, _ := open(t)
	for _, build := range []leaks.UploadTarget{
		{Build: "one", Scenario: "smoke"}, {Build: "two"}, {Build: "10"}, {Build: "30", Scenario: "smoke"}, {Build: "20"},
		{Build: "20", Scenario: "smoke"}, {Build: "least", Sequence: new(int64(math.MinInt64))},
	} {
		build.Project = "p"
		addEvidence(t, s, build, "a.txt")
	}
	addEvidence(t, s, leaks.UploadTarget{Project: "another", Build: "99"}, "a.txt")
	for _, test := range []struct {
		query         store.BuildQuery
		builds        string
		before, total int
		next          string
	}{
		{store.BuildQuery{Limit: 9}, "30 20 10 least two one", 0, 6, ""},
		{store.BuildQuery{Limit: 6}, "30 20 10 least two one", 0, 6, ""},
		{store.BuildQuery{Limit: 5}, "30 20 10 least two", 0, 6, "two"},
		{store.BuildQuery{Limit: 2}, "30 20", 0, 6, "20"},
		{store.BuildQuery{Limit: 2, AfterBuild: "20"}, "10 least", 2, 6, "least"},
		{store.BuildQuery{Limit: 2, AfterBuild: "least"}, "two one", 4, 6, ""},
		{store.BuildQuery{Limit: 2, AfterBuild: "one"}, "", 6, 6, ""},
		{store.BuildQuery{Limit: 9, Scenario: "smoke"}, "30 20 one", 0, 3, ""},
		{store.BuildQuery{Limit: 1, Scenario: "smoke", AfterBuild: "30"}, "20", 1, 3, "20"},
		{store.BuildQuery{Limit: 9, Scenario: "smoke", AfterBuild: "10"}, "one", 2, 3, ""}, // which has no run of it
		{store.BuildQuery{Limit: 9, Scenario: "smoke", AfterBuild: "one"}, "", 3, 3, ""},
		{store.BuildQuery{Limit: 9, Scenario: "none"}, "", 0, 0, ""},
	} {
		test.query.Project = "p"
		page := must[*store.BuildPage](t)(storetest.Now(t, s).ListBuilds(t.Context(), test.query))
		if got := buildNames(page); got != test.builds || page.RowsBefore != test.before || page.Total != test.total ||
			page.NextAfterBuild() != test.next {
			t.Errorf("%+v: %q, %d before, of %d, next %q", test.query, got, page.RowsBefore, page.Total, page.NextAfterBuild())
		}
		for _, b := range page.Builds {
			for _, run := range b.Runs {
				if test.query.Scenario != "" && run.Scenario != test.query.Scenario {
					t.Errorf("%+v: build %s has a run of %s", test.query, b.Name, run.Scenario)
				}
			}
		}
	}
	for _, after := range []string{"nobody", "99"} { // of another project
		if _, err := storetest.Now(t, s).ListBuilds(t.Context(),
			store.BuildQuery{Project: "p", AfterBuild: after, Limit: 9}); !errors.As(err, new(*leaks.FieldError)) {
			t.Errorf("behind %q: %v", after, err)
		}
	}
}

// Builds that are added between two pages neither hide a build that was there nor show one twice.
func TestBuildsThatComeBetweenPages(t *testing.T) {
	s, _ := open(t)
	rng := rand.New(rand.NewPCG(6, 6))
	add := func(name string, sequence *int64) {
		addEvidence(t, s, leaks.UploadTarget{Project: "p", Build: name, Sequence: sequence}, "a.txt")
	}
	seen := map[string]int{} // how often, of the builds that are there at first
	for i := range 40 {
		name := fmt.Sprint("b", i)
		seen[name] = 0
		add(name, maybe(rng, rng.Int64N(100)))
	}
	query := store.BuildQuery{Project: "p", Limit: 3}
	for before, pages := 0, 0; ; pages++ {
		page := must[*store.BuildPage](t)(storetest.Now(t, s).ListBuilds(t.Context(), query))
		if page.RowsBefore < before || page.Total < page.RowsBefore+len(page.Builds) {
			t.Fatalf("page %d: %d before, of %d; on the page before %d", pages, page.RowsBefore, page.Total, before)
		}
		for _, b := range page.Builds {
			if _, ok := seen[b.Name]; ok {
				seen[b.Name]++
			}
		}
		before = page.RowsBefore + len(page.Builds)
		if query.AfterBuild = page.NextAfterBuild(); query.AfterBuild == "" {
			if before != page.Total {
				t.Errorf("the last page ends at %d of %d", before, page.Total)
			}
			break
		}
		if pages < 20 { // so that it ends
			add(fmt.Sprint("newest", pages), new(int64(1000+pages)))
			add(fmt.Sprint("somewhere", pages), maybe(rng, rng.Int64N(100)))
		}
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("build %s is on %d pages", name, n)
		}
	}
}

// A page that is read during uploads shows each run under its build, and no build without its runs.
func TestBuildsBesideUploads(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const uploaders, each, reads = 4, 40, 150
	s, _ := open(t)
	addEvidence(t, s, leaks.UploadTarget{Project: "p", Build: "0"}, "a.txt")
	var uploading sync.WaitGroup
	var done atomic.Bool
	for u := range uploaders {
		uploading.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(u)))
			for i := range each {
				target := leaks.UploadTarget{Project: "p", Build: fmt.Sprintf("%d.%d", u, i), Scenario: oneOf(rng, "soak", "smoke"),
					Run: "1", Sequence: maybe(rng, rng.Int64N(1000))}
				for range 1 + rng.IntN(2) { // new runs come to builds that are there, too
					if _, err := s.CreateEvidence(t.Context(), target,
						store.Evidence{Name: "a.txt", SHA256: target.Build, Kind: "umdh"}); err != nil {
						t.Error(err)
						return
					}
					target.Run = "2"
				}
			}
		})
	}
	defer uploading.Wait()
	go func() {
		uploading.Wait()
		done.Store(true)
	}()
	rng := rand.New(rand.NewPCG(8, 8))
	after := ""
	for n := 0; n < reads || !done.Load(); n++ {
		query := store.BuildQuery{Project: "p", Scenario: oneOf(rng, "", "", "soak"), AfterBuild: after,
			Limit: oneOf(rng, 1, 7, 1000)}
		page := must[*store.BuildPage](t)(store.Read(t.Context(), s,
			func(v store.View) (*store.BuildPage, error) { return v.ListBuilds(t.Context(), query) }))
		if page.RowsBefore+len(page.Builds) > page.Total {
			t.Errorf("%+v: %d behind %d of %d", query, len(page.Builds), page.RowsBefore, page.Total)
		}
		for _, b := range page.Builds {
			if len(b.Runs) == 0 {
				t.Errorf("%+v: build %s has no run", query, b.Name)
			}
			for _, run := range b.Runs {
				if run.Build != b.Name {
					t.Errorf("%+v: a run of build %s stands under %s", query, run.Build, b.Name)
				}
			}
		}
		after = page.NextAfterBuild()
	}
	uploading.Wait()
	page := must[*store.BuildPage](t)(storetest.Now(t, s).ListBuilds(t.Context(), store.BuildQuery{Project: "p",
		Limit: 1000}))
	if want := uploaders*each + 1; page.Total != want || len(page.Builds) != want {
		t.Errorf("%d of %d builds, want %d", len(page.Builds), page.Total, want)
	}
}
