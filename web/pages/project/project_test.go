package project_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

func TestProjects(t *testing.T) {
	s := pagestest.Open(t)
	pagestest.Has(t, s.Page("/"), "Memory leaks by build", "curl --fail-with-body -T snap1.log", s.URL+
		"/api/v1/evidence?project=PROJECT&amp;build=BUILD", "Upload evidence")
	pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 1))
	other := pagestest.DefaultTarget
	other.Project = "résumé + co@home"
	pagestest.AddEvidence(t, s.Store, other, "a.log")
	page := s.Page("/")
	// Projects with a verdict stand before those without.
	pagestest.Has(t, pagestest.Words(page), "Release board", "0 of 2 projects with a failed gate", "all 2", "undecided 2",
		"shopd",
		"Gate inconclusive", "4812", "soak-60min", "Inconclusive", "UTC", "résumé + co@home", "No gate yet",
		"1 run, none with a result yet")
	pagestest.Has(t, page, `href="/projects/shopd"`, `href="/projects/r%C3%A9sum%C3%A9%20+%20co@home"`)
	pagestest.Has(t, pagestest.Words(s.Page("/?show=failing")), "failing 0", "No project has this gate.")
	pagestest.Has(t, pagestest.Words(s.Page("/?show=nonsense")), "résumé + co@home")
	pagestest.Lacks(t, page, "Memory leaks by build")
	pagestest.Has(t, s.Page("/projects/r%C3%A9sum%C3%A9%20+%20co@home"), "<h1>résumé + co@home</h1>")
}

func TestProject(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	for i := range 45 {
		to := leaks.UploadTarget{Project: "shopd", Build: fmt.Sprint(4700 + i), Scenario: "soak", Run: "1"}
		if i%2 == 1 {
			to.Scenario = "smoke"
		}
		pagestest.AddEvidence(t, s.Store, to, "a.log")
	}
	newest := pagestest.DefaultTarget
	newest.Build, newest.Scenario = "4900", "soak"
	run := pagestest.AddRun(t, s.Store, newest, pagestest.CapturesOf(pagestest.Shop, 11))
	quiet := pagestest.DefaultTarget
	quiet.Build, quiet.Scenario = "4899", "soak"
	pagestest.AddRun(t, s.Store, quiet, pagestest.CapturesOf(pagestest.Shop[4:7], 11))
	refused := pagestest.DefaultTarget
	refused.Build = "4898"
	pagestest.FailRead(t, s.Store, pagestest.AddEvidence(t, s.Store, refused, "photo.jpg").RunID,
		store.Failure{Code: "unknown-format", Message: "this is a picture", Final: true})
	page := s.Page("/projects/shopd")
	pagestest.Has(t, page, "1–40 of 48 builds", "4900", fmt.Sprintf(`href="/runs/%d"`, run),
		"leaks 2.77 MB in 11,570 blocks",
		">11<", ">13<", "4899", "No leak found", "4898", "No report", "The file has an unknown format", "4744",
		"Working", "4743", "Older ›")
	pagestest.Has(t, page, "Leaking")
	pagestest.Has(t, page, `href="/upload?branch=main&amp;build=4900&amp;project=shopd&amp;sequence=4900"`)
	pagestest.Lacks(t, page, ">4700 ")
	if to := pagestest.LinkOf(t, page, "Older ›"); to != "/projects/shopd?after=4708" {
		t.Errorf("older builds are at %s", to)
	}
	older := s.Page("/projects/shopd?after=4708")
	pagestest.Has(t, older, "41–48 of 48 builds", "4700", "« Newest")
	pagestest.Lacks(t, older, "4709 ", "Older ›")
	// A page begins after a build, so a build that is uploaded meanwhile moves no row to another page.
	pagestest.AddEvidence(t, s.Store, leaks.UploadTarget{Project: "shopd", Build: "5000", Scenario: "soak", Run: "1"}, "a.log")
	pagestest.Has(t, s.Page("/projects/shopd?after=4708"), "42–49 of 49 builds", "4707", "4700")
	pagestest.Has(t, s.Page("/projects/shopd?after=nothing"), "1–40 of 49 builds", "5000")
	smoke := s.Page("/projects/shopd?scenario=smoke")
	pagestest.Has(t, smoke, "22 builds", `aria-current="true"`, "4743")
	pagestest.Lacks(t, smoke, "<div>4744", "<div>4900")
	pagestest.Has(t, s.Page("/projects/shopd?scenario=none"), "No run of this scenario.")
}

// Builds without a branch beside those with one are said: which of them come before which is a guess.
func TestProjectSaysWhichBuildsHaveNoBranch(t *testing.T) {
	s := pagestest.Open(t)
	for _, to := range []leaks.UploadTarget{{Build: "1"}, {Build: "2"}, {Build: "3", Branch: "main"}} {
		to.Project = "shopd"
		pagestest.AddEvidence(t, s.Store, to, "a.txt")
		if to.Build == "2" {
			pagestest.Lacks(t, pagestest.Words(s.Page("/projects/shopd")), "no branch")
		}
	}
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd")),
		"Builds 1–2 have no branch and count as builds of the default branch.")
}
