package pages_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestProjects(t *testing.T) {
	s := open(t)
	has(t, s.page("/"), "Memory leaks by build", "curl --fail-with-body -T snap1.log", s.url+
		"/api/v1/evidence?project=PROJECT&amp;build=BUILD", "Upload evidence")
	addRun(t, s.store, target, capturesOf(shop, 1))
	other := target
	other.Project = "résumé + co@home"
	addEvidence(t, s.store, other, "a.log")
	page := s.page("/")
	// Projects with a verdict stand before those without.
	has(t, words(page), "Release board", "0 of 2 projects with a failed gate", "all 2", "undecided 2", "shopd",
		"Gate inconclusive", "4812", "soak-60min", "Inconclusive", "UTC", "résumé + co@home", "No gate yet",
		"1 run, none with a result yet")
	has(t, page, `href="/projects/shopd"`, `href="/projects/r%C3%A9sum%C3%A9%20+%20co@home"`)
	has(t, words(s.page("/?show=failing")), "failing 0", "No project has this gate.")
	has(t, words(s.page("/?show=nonsense")), "résumé + co@home")
	lacks(t, page, "Memory leaks by build")
	has(t, s.page("/projects/r%C3%A9sum%C3%A9%20+%20co@home"), "<h1>résumé + co@home</h1>")
}

func TestProject(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := open(t)
	for i := range 45 {
		to := leaks.Target{Project: "shopd", Build: fmt.Sprint(4700 + i), Scenario: "soak", Run: "1"}
		if i%2 == 1 {
			to.Scenario = "smoke"
		}
		addEvidence(t, s.store, to, "a.log")
	}
	newest := target
	newest.Build, newest.Scenario = "4900", "soak"
	run := addRun(t, s.store, newest, capturesOf(shop, 11))
	quiet := target
	quiet.Build, quiet.Scenario = "4899", "soak"
	addRun(t, s.store, quiet, capturesOf(shop[4:7], 11))
	refused := target
	refused.Build = "4898"
	fail(t, s.store, addEvidence(t, s.store, refused, "photo.jpg").RunID,
		store.Failure{Code: "unknown-format", Message: "this is a picture", Final: true})
	page := s.page("/projects/shopd")
	has(t, page, "1–40 of 48 builds", "4900", fmt.Sprintf(`href="/runs/%d"`, run), "leaks 2.77 MB in 11,570 blocks",
		">11<", ">13<", "4899", "No leak found", "4898", "No report", "The file has an unknown format", "4744",
		"Working", "4743", "Older ›")
	has(t, page, "Leaking")
	has(t, page, `href="/upload?branch=main&amp;build=4900&amp;project=shopd&amp;sequence=4900"`)
	lacks(t, page, ">4700 ")
	if to := linkOf(t, page, "Older ›"); to != "/projects/shopd?after=4708" {
		t.Errorf("older builds are at %s", to)
	}
	older := s.page("/projects/shopd?after=4708")
	has(t, older, "41–48 of 48 builds", "4700", "« Newest")
	lacks(t, older, "4709 ", "Older ›")
	// A page begins after a build, so a build that is uploaded meanwhile moves no row to another page.
	addEvidence(t, s.store, leaks.Target{Project: "shopd", Build: "5000", Scenario: "soak", Run: "1"}, "a.log")
	has(t, s.page("/projects/shopd?after=4708"), "42–49 of 49 builds", "4707", "4700")
	has(t, s.page("/projects/shopd?after=nothing"), "1–40 of 49 builds", "5000")
	smoke := s.page("/projects/shopd?scenario=smoke")
	has(t, smoke, "22 builds", `aria-current="true"`, "4743")
	lacks(t, smoke, "<div>4744", "<div>4900")
	has(t, s.page("/projects/shopd?scenario=none"), "No run of this scenario.")
}

// Builds without a branch beside those with one are said: which of them come before which is a guess.
func TestProjectSaysWhichBuildsHaveNoBranch(t *testing.T) {
	s := open(t)
	for _, to := range []leaks.Target{{Build: "1"}, {Build: "2"}, {Build: "3", Branch: "main"}} {
		to.Project = "shopd"
		addEvidence(t, s.store, to, "a.txt")
		if to.Build == "2" {
			lacks(t, words(s.page("/projects/shopd")), "no branch")
		}
	}
	has(t, words(s.page("/projects/shopd")), "Builds 1–2 have no branch and count as builds of the default branch.")
}
