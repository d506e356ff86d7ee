package leaks_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

func TestLeaksOfProject(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	page := s.Page("/projects/shopd")
	pagestest.Has(t, pagestest.Words(page), "Leaks", "all", "new 1 found 3 ongoing 0", "State", "Builds to 4813",
		"Receipt:: AppendLine", "leak",
		"certain", "receipt.cpp:118", "leaks in soak-60min", "2.48 MB/hour", "4812", "clean",
		"not exercised: no data", "Runs")
	pagestest.Has(t, page, `aria-label="leaks in 2 of 3 builds, not exercised in 0"`,
		`class="h-clean"><title>4811: clean, stable</title>`, `class="h-leak"><title>4812: leak</title>`,
		`title="clean in build 4811">4812<`)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	pagestest.Has(t, page, `href="/projects/shopd/signatures/`+leak.Text+`"`)
	for query, first := range map[string]string{
		"?state=fixed": "AuditLog::Note", "?q=searchindex": "SearchIndex::Rebuild", "?sort=first-bad": pagestest.AppendLine,
		"?sort=growth": pagestest.AppendLine, "?sort=nonsense&state=x&class=y&leaks_after=z": pagestest.AppendLine,
		"?leaks_after=99999999": pagestest.AppendLine, "?class=cache&q=sessioncache": "",
		"?scenario=soak-60min": pagestest.AppendLine, "?state=found": "Node::Clone",
	} {
		page := s.Page("/projects/shopd" + query)
		_, list, _ := strings.Cut(page, `<div id="leaks">`)
		_, row, _ := strings.Cut(list, `<span class="mod">`)
		row, _, _ = strings.Cut(row, "</a>")
		if row = strings.ReplaceAll(pagestest.Words(row), " ", ""); !strings.Contains(row, first) {
			t.Errorf("%s: the list begins with %s", query, row)
		}
	}
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd?q=nosuchthing&owner=x")), "No leak matches. Show all")
	pagestest.Has(t, s.Page("/projects/shopd?state=new&q=a&sort=growth"), `value="a"`, `name="state" value="new"`,
		`href="/projects/shopd?q=a&amp;sort=growth"`)
}

func TestSignaturePage(t *testing.T) {
	s, runs := pagestest.OpenHistory(t)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	page := s.Page(path)
	pagestest.Has(t, pagestest.Words(page), "Branches", "main open between 4811 and 4812 4811", "4812: 100 %", "none")
	pagestest.Has(t, pagestest.Words(page), "Leaking", "open", "Receipt::AppendLine", "leaks", "2.48 MB/hour",
		"in soak-60min, build 4813: blocks of 384 B from receipt.cpp:118; first seen in 4812.", "leak", "certain",
		"one kind of evidence shows the leak", "open in 1 of 1 scenario", "Compare 4811 → 4812", "Triage", "open",
		"no owner", "Assign owner…", "Mark as known…", "Mark as not a leak…", "Mark as fixed…", "Link ticket…",
		"Changes are logged without a name (log in to be named).",
		"Growth of this leak by build", "4812, soak-60min: 2.48 MB per hour", "first seen: 4811 → 4812", "Stacks", "Evidence",
		"met:", "Evidence for build 4813", "UMDH snapshots", "History", "4813", "4812", "4811", "stable",
		"Identity", "shopd!Shop::Orders::Receipts::Receipt::AppendLine", "your own, blamed", "blame here instead",
		"Decisions and comments", "First seen", "First seen in 4812. Clean in 4811, which ran its callers.",
		"Compare both builds", "last leaked in build 4813", "Other names")
	pagestest.Has(t, page, `href="/projects/shopd/compare?base=4811&amp;head=4812&amp;scenario=soak-60min"`,
		fmt.Sprintf(`href="/runs/%d"`, runs[2]))
	for _, wrong := range []string{"sig1:00000000000000000000000000000000", "%00", "%FF", "x%2Fy"} {
		if status, _ := s.Get("/projects/shopd/signatures/"+wrong, "Accept", "text/html"); status != http.StatusNotFound {
			t.Errorf("%s: %d", wrong, status)
		}
	}
	if status, _ := s.Get("/projects/nobody/signatures/"+leak.Text, "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("a project that is not there: %d", status)
	}
}

func TestTriageForm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, _ := pagestest.OpenHistory(t)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	version := func() string { return fmt.Sprint(pagestest.SignatureOf(t, s, pagestest.AppendLine).Version) }
	ok := func(pairs ...string) {
		t.Helper()
		status, location := s.Fill(path,
			append([]string{"version", version(), "actor", "Ada\u202e Lovelace\x07"}, pairs...)...)
		if status != http.StatusSeeOther || location != path {
			t.Fatalf("%v: %d %.500s", pairs, status, location)
		}
	}
	ok("do", "assign", "assignee", "bob", "ticket", "https://tickets/7")
	pagestest.Has(t, s.Page(path), `title="bob" aria-label="bob">BO<`, `href="https://tickets/7"`)
	pagestest.Has(t, s.Page(path+"?say=assign"), `name="assignee" value="bob"`)
	ok("do", "assign", "assignee", "bob", "ticket", "javascript:alert(1)") // a text like others
	if page := s.Page(path); strings.Contains(page, `href="javascript`) ||
		!strings.Contains(page, `<b>javascript:alert(1)</b>`) {
		t.Error("a ticket that browsers must not follow is a link, or is not shown")
	}
	ok("do", "known", "reason", "until the <new> allocator", "until", "2099-12-31")
	pagestest.Has(t, pagestest.Words(s.Page(path)), "known", "Reopen leak…",
		"Known: until the &lt;new&gt; allocator, until 2099-12-31",
		"Decisions and comments", "Ada Lovelace")
	pagestest.Has(t, s.Page("/projects/shopd?state=known"), pagestest.AppendLine)
	ok("do", "open")
	ok("do", "fixed", "fixed_in", "4812") // and 4813, which is newer, leaks
	pagestest.Has(t, pagestest.Words(s.Page(path)), "regressed", "fixed in build 4812", "leaks again since build 4813")
	ok("do", "open")
	ok("do", "not-leak", "reason", "a pool that fills up")
	pagestest.Has(t, pagestest.Words(s.Page(path)), "Triage", "known", "Marked as not a leak: a pool that fills up",
		"not leak why: – → a pool that fills up")
	pagestest.Lacks(t, pagestest.Words(s.Page(path)), "Mark as not a leak…")

	for name, form := range map[string][]string{
		"no reason":          {"version", version(), "do", "known"},
		"no leak, no reason": {"version", version(), "do", "not-leak", "reason", " "},
		"bad day":            {"version", version(), "do", "known", "reason", "x", "until", "soon"},
		"bad ticket":         {"version", version(), "do", "assign", "ticket", strings.Repeat("x", 501)},
		"no change":          {"version", version(), "do", "x"},
		"no version":         {"do", "open"},
		"no build":           {"version", version(), "do", "fixed", "fixed_in", "nosuch"},
		"bad version":        {"version", "-3", "do", "open"},
	} {
		if status, page := s.Fill(path, form...); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		} else {
			pagestest.Has(t, page, `role="alert"`)
		}
	}
	if status, page := s.Fill(path, "version", "0", "do", "assign", "assignee", "carol"); status != http.StatusConflict {
		t.Errorf("a form of an old page: %d", status)
	} else {
		pagestest.Has(t, page, `aria-label="bob"`, "another user changed it first")
	}
	status, location := s.Fill(path+"/comments", "text", "it is <b>the</b> cache\r\nsee there", "actor", "")
	if status != http.StatusSeeOther || location != path+"#comments" {
		t.Errorf("a comment: %d to %s", status, location)
	}
	pagestest.Has(t, s.Page(path), "<b>somebody</b>", "it is &lt;b&gt;the&lt;/b&gt; cache\nsee there")
	if status, _ := s.Fill(path+"/comments", "text", " "); status != http.StatusUnprocessableEntity {
		t.Errorf("an empty comment: %d", status)
	}
	if status, _ := s.Fill(path+"/comments", "text",
		strings.Repeat("x", 1<<20)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge comment: %d", status)
	}
	req := pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path,
		strings.NewReader("do=open&version=1")))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, _ := s.Send(req); status != http.StatusForbidden {
		t.Errorf("a form of another site: %d", status)
	}
}

// The name that somebody typed stands in the next form.
func TestActorIsRemembered(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	path := "/projects/shopd/signatures/" + pagestest.SignatureOf(t, s, pagestest.AppendLine).Text
	req := pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost,
		s.URL+path+"/comments",
		strings.NewReader("text=x&actor=Zo%C3%AB+%22O%22")))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := pagestest.Must[*http.Response](t)(client.Do(req))
	_ = res.Body.Close()
	if len(res.Cookies()) != 1 || !res.Cookies()[0].HttpOnly {
		t.Fatalf("cookies %v", res.Cookies())
	}
	pagestest.Has(t, s.Page(path, "Cookie", res.Header.Get("Set-Cookie")), `name="actor" value="Zoë &#34;O&#34;"`)
	pagestest.Has(t, s.Page(path, "Cookie", "heapdrift_actor=%00%zz"), `name="actor" value=""`)

	// A form without the field uses the remembered name, and leaves it as it is.
	into := pagestest.SignatureOf(t, s, "SearchIndex::Rebuild").Text
	req = pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path+"/merge",
		strings.NewReader("into="+into)))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.AddCookie(res.Cookies()[0])
	res = pagestest.Must[*http.Response](t)(client.Do(req))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 0 {
		t.Errorf("%d, cookies %v", res.StatusCode, res.Cookies())
	}
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd/signatures/"+into)), "merged by Zoë")
}

// Three snapshots cannot show that a signature is clean, and no page says that it is.
func TestUndecidedIsNotClean(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	few := pagestest.DefaultTarget
	few.Build = "4814"
	calm := slices.Clone(pagestest.Shop)
	calm[0].Blocks = pagestest.ConstantBlocks(140)
	pagestest.AddRun(t, s.Store, few, pagestest.CapturesOf(calm, 3))
	page := s.Page("/projects/shopd?q=AppendLine")
	pagestest.Has(t, page, "<title>4811: clean, stable</title>", "<title>4814: seen, inconclusive</title>")
}

// The page of a leak explains its stack also where the newest evidence has it under an older signature.
func TestStackOfMergedLeak(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	path := "/projects/shopd/signatures/" + pagestest.SignatureOf(t, s, pagestest.AppendLine).Text
	into := pagestest.SignatureOf(t, s, "AuditLog::Note").Text // fixed in 4813, where the other leaks
	if status, location := s.Fill(path+"/merge", "into", into); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, location)
	}
	pagestest.Has(t, pagestest.Words(s.Page(path)), "Blame rules", pagestest.AppendLine+" your own, blamed")
}

func TestMergeForm(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	from, into := pagestest.SignatureOf(t, s, "SearchIndex::Rebuild"), pagestest.SignatureOf(t, s, pagestest.AppendLine)
	at := func(sig store.Signature) string { return "/projects/shopd/signatures/" + sig.Text }
	for _, wrong := range []string{"", "nosuch", from.Text} {
		if status, page := s.Fill(at(from)+"/merge", "into", wrong); status != http.StatusUnprocessableEntity {
			t.Errorf("into %q: %d", wrong, status)
		} else {
			pagestest.Has(t, page, `role="alert"`)
		}
	}
	if status, location := s.Fill(at(from)+"/merge", "into", into.Text); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, location)
	}
	pagestest.Has(t, pagestest.Words(s.Page(at(from))), pagestest.AppendLine, "Other names", "SearchIndex::Rebuild",
		"merged by somebody", "Split off")
	if status, location := s.Fill(at(into)+"/merge", "split", from.Text); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, location)
	}
	pagestest.Has(t, pagestest.Words(s.Page(at(from))), "SearchIndex::Rebuild")
}

func TestHostileLeaksStayText(t *testing.T) {
	s := pagestest.Open(t)
	nasty := slices.Clone(pagestest.Shop)
	nasty[0].Stack = pagestest.Join(pagestest.NewFrames, []string{"shopd!" + pagestest.Hostile + "Nasty\u202e+0x1"},
		pagestest.RequestFrames)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(nasty, 11), func(r *analysis.Report) {
		r.Findings[0].Owner, r.Findings[0].Known = "<i>o</i>", "<i>k</i>"
		r.Findings[0].Clauses[0].Text = "<i>c</i>"
	})
	leak := pagestest.SignatureOf(t, s, "nasty")
	sig := url.PathEscape(leak.Text)
	for _, path := range []string{"/projects/shopd", "/projects/shopd/signatures/" + sig,
		fmt.Sprintf("/runs/%d?open=%s", run, sig), pagestest.SitesPath(run,
			"open=0"), "/projects/shopd/rules?add=%3Cscript%3E%22%27"} {
		pagestest.Lacks(t, s.Page(path), "<script>alert", "<i>", "\u202e", "<script>\"")
	}
}
