package leaks_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/pagestest"
)

// The page says what a change does to the gate before the change is saved, without scripts too, and this preview
// changes nothing.
func TestEffectIsSaidBeforeItIsSaved(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	calm := pagestest.CapturesOf(pagestest.Shop[:1], 11)
	leaky := pagestest.DefaultTarget
	pagestest.AddRun(t, s.Store, leaky, calm)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=known")), "Reason", "Until (last day)", "or until build",
		"Mark as known", "With this change, the gate of build 4812 passes: every leak is known. It fails now: 1 leak.")
	pagestest.Has(t, s.Page(path+"?say=known"), `aria-current="true"`,
		`name="reason" value="" maxlength="500" autocomplete="off" required`, `formmethod="get"`)
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=known&reason=vendor&until=2099-12-31")),
		"With this change, the gate of build 4812 passes")
	typed := s.Page(path + "?say=known&reason=vendor&until_build=4812")
	pagestest.Has(t, pagestest.Words(typed), "The gate of build 4812 fails as before: 1 leak.")
	pagestest.Has(t, typed, `value="vendor"`, `name="until_build" value="4812"`)
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=not-leak")), "Reason", "With this change, the gate of build 4812 passes")
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=fixed")), "Fixed in build",
		"The gate of build 4812 fails as before")
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=fixed&fixed_in=nosuch")),
		"This cannot be saved: fixed: the project has no build")
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=assign")), "Assignee",
		"No gate changes: gates do not depend on owners or tickets.")
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=known&until=soon")), "This cannot be saved: until: neither a day")
	pagestest.Lacks(t, s.Page(path+"?say=nonsense"), `id="effect"`)
	if now := pagestest.SignatureOf(t, s, pagestest.AppendLine); now.Version != leak.Version || now.State != leak.State {
		t.Errorf("a page that was read changed %+v to %+v", leak.Triage, now.Triage)
	}

	// The change does what the preview said, and taking it back has a preview too.
	if status, page := s.Fill(path, "version", fmt.Sprint(leak.Version), "do", "known", "reason",
		"vendor"); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, page)
	}
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd")), "Gate passes")
	pagestest.Has(t, pagestest.Words(s.Page(path+"?say=open")),
		"With this change, the gate of build 4812 fails: 1 leak. It passes now: every leak is known.")
	// The form holds the stored values, a day and an instant, so that saving it again changes nothing.
	for until, field := range map[string]string{"2099-12-31": `type="date" id="until" name="until" value="2099-12-31"`,
		"2099-12-31T10:30:00Z": `type="text" id="until" name="until" value="2099-12-31T10:30:00Z"`} {
		if status, page := s.Fill(path, "version", fmt.Sprint(pagestest.SignatureOf(t, s, pagestest.AppendLine).Version),
			"do", "known", "reason",
			"vendor", "until", until); status != http.StatusSeeOther {
			t.Fatalf("%d %.300s", status, page)
		}
		pagestest.Has(t, s.Page(path+"?say=known"), `name="reason" value="vendor"`, field, `name="until_build" value=""`)
		pagestest.Has(t, s.Page(path+"?say=known&until="), `type="date" id="until" name="until" value=""`)
	}
	// A form that is refused stays open as it was sent.
	status, page := s.Fill(path, "version", "1", "do", "known", "reason", "x", "until", "2099-12-31", "until_build", "9")
	if status != http.StatusUnprocessableEntity {
		t.Errorf("%d", status)
	}
	pagestest.Has(t, page, `name="reason" value="x"`, `value="2099-12-31"`, `name="until_build" value="9"`, `role="alert"`)
}

// The bar knows who is logged in, takes no name that was typed, and shows no forms to those who may only read.
func TestTriageKnowsWhoItIs(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.OpenWithAccounts(t)
	if err := s.Store.CreateProject(t.Context(), "shopd", 0, "somebody"); err != nil {
		t.Fatal(err)
	}
	setup := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), s.Store, setup, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := accountstore.UseLink(t.Context(), s.Store, setup.Digest, "Ada Kirsch", "x"); err != nil {
		t.Fatal(err)
	}
	pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop[:1], 11))
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	member, viewer := pagestest.LogIn(t, s, "Bo Olsen", accounts.Member), pagestest.LogIn(t, s, "Vera Lind",
		accounts.Viewer)
	page := s.Page(path+"?say=assign", "Cookie", member)
	pagestest.Has(t, pagestest.Words(page), "no owner", "Assign to me", "Assign owner…", "Changes are logged as Bo Olsen",
		"Assignee")
	pagestest.Lacks(t, page, `name="actor"`, "Your name")
	seen := s.Page(path+"?say=known", "Cookie", viewer)
	pagestest.Has(t, pagestest.Words(seen), "Triage", "no owner", "You can read this project, not change it.")
	pagestest.Lacks(t, seen, `action="`+path, "Assign to me", "Mark as known…", `id="effect"`, `name="reason"`)

	post := func(cookie string, pairs ...string) int {
		t.Helper()
		form := url.Values{"version": {fmt.Sprint(pagestest.SignatureOf(t, s, pagestest.AppendLine).Version)}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		status, _ := s.Submit(path, form, "Cookie", cookie)
		return status
	}
	if status := post(viewer, "do", "mine"); status != http.StatusForbidden {
		t.Errorf("a viewer takes it: %d", status)
	}
	if status := post(member, "do", "mine", "actor", "Mallory"); status != http.StatusSeeOther {
		t.Errorf("a member takes it: %d", status)
	}
	if now := pagestest.SignatureOf(t, s, pagestest.AppendLine); now.Assignee != "Bo Olsen" {
		t.Errorf("it is %q's", now.Assignee)
	}
	after := s.Page(path, "Cookie", member)
	pagestest.Has(t, after, `class="av`, `title="Bo Olsen" aria-label="Bo Olsen">BO<`)
	pagestest.Lacks(t, pagestest.Words(after), "Assign to me", "unverified", "Mallory")
}
