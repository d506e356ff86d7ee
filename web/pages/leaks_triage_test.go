package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/account"
)

// logIn makes an account with a role in the shop and returns the cookie of its session.
func logIn(t *testing.T, s *site, name string, role accounts.Role) string {
	t.Helper()
	link := accounts.NewLink()
	if _, err := accountstore.CreateUser(t.Context(), s.store, name, "", false, "test"); err != nil {
		t.Fatal(err)
	}
	if err := accountstore.CreateUserLink(t.Context(), s.store, link, name, "test"); err != nil {
		t.Fatal(err)
	}
	if err := accountstore.UpdateMember(t.Context(), s.store, "shopd", name, role, "test"); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"password": {"correct horse"}, "again": {"correct horse"}}
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost,
		s.url+account.SetupPath(link.Text), strings.NewReader(form.Encode())))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must[*http.Response](t)(client.Do(req))
	_ = res.Body.Close()
	var cookies []string
	for _, c := range res.Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	if res.StatusCode != http.StatusSeeOther || len(cookies) == 0 {
		t.Fatalf("%s cannot log in: %d", name, res.StatusCode)
	}
	return strings.Join(cookies, "; ")
}

// The page says what a change does to the gate before the change is saved, without scripts too, and this preview
// changes nothing.
func TestEffectIsSaidBeforeItIsSaved(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := open(t)
	calm := capturesOf(shop[:1], 11)
	leaky := target
	addRun(t, s.store, leaky, calm)
	leak := signatureOf(t, s, appendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	has(t, words(s.page(path+"?say=known")), "Reason", "Until (last day)", "or until build",
		"Mark as known", "With this change, the gate of build 4812 passes: every leak is known. It fails now: 1 leak.")
	has(t, s.page(path+"?say=known"), `aria-current="true"`,
		`name="reason" value="" maxlength="500" autocomplete="off" required`, `formmethod="get"`)
	has(t, words(s.page(path+"?say=known&reason=vendor&until=2099-12-31")), "With this change, the gate of build 4812 passes")
	typed := s.page(path + "?say=known&reason=vendor&until_build=4812")
	has(t, words(typed), "The gate of build 4812 fails as before: 1 leak.")
	has(t, typed, `value="vendor"`, `name="until_build" value="4812"`)
	has(t, words(s.page(path+"?say=not-leak")), "Reason", "With this change, the gate of build 4812 passes")
	has(t, words(s.page(path+"?say=fixed")), "Fixed in build", "The gate of build 4812 fails as before")
	has(t, words(s.page(path+"?say=fixed&fixed_in=nosuch")), "This cannot be saved: fixed: the project has no build")
	has(t, words(s.page(path+"?say=assign")), "Assignee",
		"No gate changes: gates do not depend on owners or tickets.")
	has(t, words(s.page(path+"?say=known&until=soon")), "This cannot be saved: until: neither a day")
	lacks(t, s.page(path+"?say=nonsense"), `id="effect"`)
	if now := signatureOf(t, s, appendLine); now.Version != leak.Version || now.State != leak.State {
		t.Errorf("a page that was read changed %+v to %+v", leak.Triage, now.Triage)
	}

	// The change does what the preview said, and taking it back has a preview too.
	if status, page := s.fill(path, "version", fmt.Sprint(leak.Version), "do", "known", "reason",
		"vendor"); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, page)
	}
	has(t, words(s.page("/projects/shopd")), "Gate passes")
	has(t, words(s.page(path+"?say=open")),
		"With this change, the gate of build 4812 fails: 1 leak. It passes now: every leak is known.")
	// The form holds the stored values, a day and an instant, so that saving it again changes nothing.
	for until, field := range map[string]string{"2099-12-31": `type="date" id="until" name="until" value="2099-12-31"`,
		"2099-12-31T10:30:00Z": `type="text" id="until" name="until" value="2099-12-31T10:30:00Z"`} {
		if status, page := s.fill(path, "version", fmt.Sprint(signatureOf(t, s, appendLine).Version), "do", "known", "reason",
			"vendor", "until", until); status != http.StatusSeeOther {
			t.Fatalf("%d %.300s", status, page)
		}
		has(t, s.page(path+"?say=known"), `name="reason" value="vendor"`, field, `name="until_build" value=""`)
		has(t, s.page(path+"?say=known&until="), `type="date" id="until" name="until" value=""`)
	}
	// A form that is refused stays open as it was sent.
	status, page := s.fill(path, "version", "1", "do", "known", "reason", "x", "until", "2099-12-31", "until_build", "9")
	if status != http.StatusUnprocessableEntity {
		t.Errorf("%d", status)
	}
	has(t, page, `name="reason" value="x"`, `value="2099-12-31"`, `name="until_build" value="9"`, `role="alert"`)
}

// The bar knows who is logged in, takes no name that was typed, and shows no forms to those who may only read.
func TestTriageKnowsWhoItIs(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := openClosed(t)
	if err := s.store.CreateProject(t.Context(), "shopd", 0, "somebody"); err != nil {
		t.Fatal(err)
	}
	setup := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), s.store, setup, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := accountstore.UseLink(t.Context(), s.store, setup.Digest, "Ada Kirsch", "x"); err != nil {
		t.Fatal(err)
	}
	addRun(t, s.store, target, capturesOf(shop[:1], 11))
	leak := signatureOf(t, s, appendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	member, viewer := logIn(t, s, "Bo Olsen", accounts.Member), logIn(t, s, "Vera Lind", accounts.Viewer)
	page := s.page(path+"?say=assign", "Cookie", member)
	has(t, words(page), "no owner", "Assign to me", "Assign owner…", "Changes are logged as Bo Olsen", "Assignee")
	lacks(t, page, `name="actor"`, "Your name")
	seen := s.page(path+"?say=known", "Cookie", viewer)
	has(t, words(seen), "Triage", "no owner", "You can read this project, not change it.")
	lacks(t, seen, `action="`+path, "Assign to me", "Mark as known…", `id="effect"`, `name="reason"`)

	post := func(cookie string, pairs ...string) int {
		t.Helper()
		form := url.Values{"version": {fmt.Sprint(signatureOf(t, s, appendLine).Version)}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		status, _ := s.submit(path, form, "Cookie", cookie)
		return status
	}
	if status := post(viewer, "do", "mine"); status != http.StatusForbidden {
		t.Errorf("a viewer takes it: %d", status)
	}
	if status := post(member, "do", "mine", "actor", "Mallory"); status != http.StatusSeeOther {
		t.Errorf("a member takes it: %d", status)
	}
	if now := signatureOf(t, s, appendLine); now.Assignee != "Bo Olsen" {
		t.Errorf("it is %q's", now.Assignee)
	}
	after := s.page(path, "Cookie", member)
	has(t, after, `class="av`, `title="Bo Olsen" aria-label="Bo Olsen">BO<`)
	lacks(t, words(after), "Assign to me", "unverified", "Mallory")
}
