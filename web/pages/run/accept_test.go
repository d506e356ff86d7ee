package run_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
)

// The page of the first run of a scenario offers to accept what is there once a job was told that it is the first.
func TestAcceptWhatIsThere(t *testing.T) {
	s, runs := pagestest.OpenHistory(t)
	page, first := fmt.Sprintf("/runs/%d?gate=now", runs[1]), fmt.Sprintf("/runs/%d", runs[1])
	pagestest.Lacks(t, s.Page(page), first+"/accept")
	asked := store.GateQuestion{FailOn: []leaks.FailOn{leaks.FailOnNew}}
	told := &leaks.Decision{Gate: leaks.GateInconclusive, Why: "this is the first build", FailOn: asked.FailOn,
		Reasons: []leaks.Reason{{Effect: leaks.EffectDoubts, Code: leaks.ReasonFirst, Sentence: "this is the first build"}}}
	if err := s.Store.CreateDecision(t.Context(), runs[1], asked, told); err != nil {
		t.Fatal(err)
	}
	text := s.Page(page)
	pagestest.Has(t, pagestest.Words(text), "Accept 5 leaks", "Accepted leaks fail no gate")
	reviewLeaks(t, s, first)
	form := []string{"actor", "Ada"}
	for _, m := range regexp.MustCompile(`name="pick" value="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		form = append(form, "pick", m[1])
	}
	if status, to := s.Fill(first+"/accept", form...); status != http.StatusSeeOther || to != first+"#gate" {
		t.Fatal(status, to)
	}
	after := s.Page(page)
	pagestest.Lacks(t, after, first+"/accept")
	pagestest.Has(t, pagestest.Words(after), "5 known as of build", "The gate is on new leaks.")
	pagestest.Has(t, pagestest.Words(s.Page(first+"/accept")), "No leak of this run is open.")
	for _, signature := range form[3:] {
		if signature == "pick" {
			continue
		}
		known := pagestest.Must[store.Signature](t)(storetest.Now(t, s.Store).FindSignature(t.Context(), "shopd", signature))
		if known.State != leaks.StateKnown {
			t.Errorf("%s is %s", signature, known.State)
		}
	}
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd/signatures/"+form[3])), leaks.FirstRunReason, "Ada")
	if status, _ := s.Fill(first + "/accept"); status != http.StatusUnprocessableEntity {
		t.Errorf("nothing picked: %d", status)
	}
	var many []string
	for range 1001 {
		many = append(many, "pick", form[3])
	}
	if status, _ := s.Fill(first+"/accept", many...); status != http.StatusUnprocessableEntity {
		t.Errorf("1001 picked: %d", status)
	}
	if status, _ := s.Fill(first+"/accept", many[2:]...); status != http.StatusSeeOther {
		t.Errorf("1000 picked: %d", status)
	}
	if status, _ := s.Fill("/runs/99999/accept", "pick", form[3]); status != http.StatusNotFound {
		t.Errorf("no run: %d", status)
	}
}

// reviewLeaks checks the page that shows the leaks of a run by file and by test: those of a group without a tick, and
// leaks without a tick, stay open.
func reviewLeaks(t *testing.T, s *pagestest.Server, run string) {
	t.Helper()
	for address, heading := range map[string]string{"/accept": "Module and file", "/accept?by=test": "Outside of tests"} {
		text := s.Page(run + address)
		pagestest.Has(t, pagestest.Words(text), "Accept leaks", "5 leaks", heading)
		pagestest.Has(t, text, `name="group" value="0" checked`, `name="pick" value="0 sig1:`)
	}
	picks := regexp.MustCompile(`name="pick" value="(\d+ [^"]*)"`).FindAllStringSubmatch(s.Page(run+"/accept"), -1)
	if len(picks) != 5 {
		t.Fatalf("%d leaks", len(picks))
	}
	form := []string{"actor", "Ada"}
	for _, m := range picks {
		form = append(form, "pick", m[1])
	}
	if status, _ := s.Fill(run+"/accept", append(form, "group", "99")...); status != http.StatusUnprocessableEntity {
		t.Errorf("no group ticked: %d", status)
	}
}
