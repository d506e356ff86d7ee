package run

import (
	"testing"

	"heapdrift/internal/store"
)

// A job of a whole run reads by its state; one that waits again says why.
func TestStagesOfAJob(t *testing.T) {
	for _, test := range []struct {
		job  store.Job
		want stage
	}{
		{store.Job{State: "queued"}, stage{"waiting for a worker", "now"}},
		{store.Job{State: "queued", Attempt: 1, Error: "no disk"}, stage{"waiting to retry; attempt 1 failed: no disk", "now"}},
		{store.Job{State: "running", Attempt: 1}, stage{"starting", "now"}},
		{store.Job{State: "running", Attempt: 1, Stage: "reading"}, stage{"reading", "now"}},
		{store.Job{State: "running", Attempt: 2, Stage: "reading"}, stage{"reading (attempt 2)", "now"}},
		{store.Job{State: "failed"}, stage{"failed", "failed"}}, {store.Job{State: "done"}, stage{"done", "done"}},
	} {
		if got := jobStages(&test.job); len(got) != 1 || got[0] != test.want {
			t.Errorf("%+v: %+v", test.job, got)
		}
	}
}

// The search for symbols waits for the evidence, and the report for both; what runs already is shown.
func TestWhatAJobWaitsFor(t *testing.T) {
	job := func(state string) *store.Job {
		if state == "" {
			return nil
		}
		return &store.Job{State: state, Percent: 30, Attempt: 1, Error: "x"}
	}
	const evidence, symbols = "waits for the evidence", "waits for symbols"
	for _, test := range []struct {
		reading          bool
		naming, analysis string // states
		names, report    string // what is waited for; "" for nothing
	}{
		{true, "", "", evidence, evidence}, {true, "done", "done", evidence, evidence}, {true, "running", "", "", symbols},
		{true, "queued", "done", evidence, symbols}, {true, "done", "running", evidence, ""},
		{false, "", "", evidence, evidence}, {false, "queued", "", "", symbols}, {false, "running", "queued", "", symbols},
		{false, "done", "", "", evidence}, {false, "done", "queued", "", ""}, {false, "done", "done", "", ""}, {false, "queued", "running", "", ""},
	} {
		g := progress{naming: job(test.naming), analysis: job(test.analysis), files: make([]fileProgress, 2), done: 2}
		if test.reading {
			g.done = 1
		}
		for what, of := range map[string]struct {
			stages func() (int, []stage)
			waits  string
		}{"names": {g.namingStages, test.names}, "report": {g.reportStages, test.report}} {
			percent, list := of.stages()
			if waits := of.waits != ""; len(list) != 1 || waits && (list[0] != stage{of.waits, ""} || percent != 0) ||
				!waits && (list[0].state == "" || percent != 30) {
				t.Errorf("%+v: %s: %d %%, %+v", test, what, percent, list)
			}
		}
	}
}

// A page of a table says which of how many sites it has, and one that has all just how many those are.
func TestExtentOfATable(t *testing.T) {
	for _, test := range []struct {
		total      int64
		page, rows int
		want       string
	}{
		{0, 1, 0, "0"}, {49, 1, 49, "49"}, {50, 1, 50, "50"}, {51, 1, 50, "1–50 of 51"}, {51, 2, 1, "51–51 of 51"}, {1234, 3, 50, "101–150 of 1,234"},
	} {
		table := siteTable{total: test.total, all: test.total, rows: make([]store.SiteRow, test.rows)}
		table.page, table.open = test.page, -1
		if got := table.extent(); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
	for total, want := range map[int64]int{0: 0, 1: 1, 50: 1, 51: 2, 100: 2} {
		if got := pagesOf(total); got != want {
			t.Errorf("%d sites on %d pages, want %d", total, got, want)
		}
	}
}
