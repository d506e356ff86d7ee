package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// appendLine is the leak that came with build 4812.
const appendLine = "Receipt::AppendLine"

// openHistory starts a server that has three builds of the shop: in 4811 receipts are freed, in 4812 they leak, in 4813
// the audit log is fixed. It returns the runs, oldest first.
func openHistory(t testing.TB) (*site, []int64) {
	t.Helper()
	return openFilled(t, "history", func(s *store.Store) (runs []int64) {
		calm, fixed := slices.Clone(shop), slices.Clone(shop)
		calm[0].blocks, fixed[1].blocks = always(140), always(140)
		for i, samples := range [][]sample{calm, shop, fixed} {
			to := target
			to.Build = fmt.Sprint(4811 + i)
			runs = append(runs, addRun(t, s, to, capturesOf(samples, 11)))
		}
		return runs
	})
}

// signatureOf finds the signature of a leak by its title.
func signatureOf(t testing.TB, s *site, text string) store.Signature {
	t.Helper()
	page := must[*store.SignaturePage](t)(storetest.Now(t, s.store).ListSignatures(t.Context(),
		store.SignatureQuery{Project: "shopd", Text: text, Class: "all", Limit: 2}))
	if len(page.Rows) != 1 {
		t.Fatalf("%d signatures are called %s", len(page.Rows), text)
	}
	return page.Rows[0].Signature
}

// fill posts a form as browsers do; pairs are names and values.
func (s *site) fill(path string, pairs ...string) (int, string) {
	s.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return s.submit(path, form)
}

// words is the text of a page without its markup.
func words(page string) string {
	var text strings.Builder
	for page != "" {
		before, tag, _ := strings.Cut(page, "<")
		text.WriteString(before + " ")
		_, page, _ = strings.Cut(tag, ">")
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func TestLeaksOfProject(t *testing.T) {
	s, _ := openHistory(t)
	page := s.page("/projects/shopd")
	has(t, words(page), "Leaks", "all", "new 1 found 3 ongoing 0", "State", "Builds to 4813", "Receipt:: AppendLine", "leak",
		"certain", "receipt.cpp:118", "leaks in soak-60min", "2.48 MB/hour", "4812", "clean",
		"not exercised: no data", "Runs")
	has(t, page, `aria-label="leaks in 2 of 3 builds, not exercised in 0"`,
		`class="h-clean"><title>4811: clean, stable</title>`, `class="h-leak"><title>4812: leak</title>`,
		`title="clean in build 4811">4812<`)
	leak := signatureOf(t, s, appendLine)
	has(t, page, `href="/projects/shopd/signatures/`+leak.Text+`"`)
	for query, first := range map[string]string{
		"?state=fixed": "AuditLog::Note", "?q=searchindex": "SearchIndex::Rebuild", "?sort=first-bad": appendLine, "?sort=growth": appendLine, "?sort=nonsense&state=x&class=y&leaks_after=z": appendLine,
		"?leaks_after=99999999": appendLine, "?class=cache&q=sessioncache": "",
		"?scenario=soak-60min": appendLine, "?state=found": "Node::Clone",
	} {
		page := s.page("/projects/shopd" + query)
		_, list, _ := strings.Cut(page, `<div id="leaks">`)
		_, row, _ := strings.Cut(list, `<span class="mod">`)
		row, _, _ = strings.Cut(row, "</a>")
		if row = strings.ReplaceAll(words(row), " ", ""); !strings.Contains(row, first) {
			t.Errorf("%s: the list begins with %s", query, row)
		}
	}
	has(t, words(s.page("/projects/shopd?q=nosuchthing&owner=x")), "No leak matches. Show all")
	has(t, s.page("/projects/shopd?state=new&q=a&sort=growth"), `value="a"`, `name="state" value="new"`,
		`href="/projects/shopd?q=a&amp;sort=growth"`)
}

func TestSignaturePage(t *testing.T) {
	s, runs := openHistory(t)
	leak := signatureOf(t, s, appendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	page := s.page(path)
	has(t, words(page), "Branches", "main new between 4811 and 4812 4811", "4812: 100 %", "none")
	has(t, words(page), "Leaking", "new", "Receipt::AppendLine", "leaks", "2.48 MB/hour",
		"in soak-60min, build 4813: blocks of 384 B from receipt.cpp:118; first seen in 4812.", "leak", "certain",
		"one kind of evidence shows the leak", "open in 1 of 1 scenario", "Compare 4811 → 4812", "Triage", "new",
		"no owner", "Assign owner…", "Mark as known…", "Mark as not a leak…", "Mark as fixed…", "Link ticket…",
		"Changes are logged without a name (log in to be named).",
		"Growth of this leak by build", "4812, soak-60min: 2.48 MB per hour", "first seen: 4811 → 4812", "Stacks", "Evidence",
		"met:", "Evidence for build 4813", "UMDH snapshots", "History", "4813", "4812", "4811", "stable",
		"Identity", "shopd!Shop::Orders::Receipts::Receipt::AppendLine", "your own, blamed", "blame here instead",
		"Decisions and comments", "First seen", "First seen in 4812. Clean in 4811, which ran its callers.",
		"Compare both builds", "last leaked in build 4813", "Other names")
	has(t, page, `href="/projects/shopd/compare?base=4811&amp;head=4812&amp;scenario=soak-60min"`,
		fmt.Sprintf(`href="/runs/%d"`, runs[2]))
	for _, wrong := range []string{"sig1:00000000000000000000000000000000", "%00", "%FF", "x%2Fy"} {
		if status, _ := s.get("/projects/shopd/signatures/"+wrong, "Accept", "text/html"); status != http.StatusNotFound {
			t.Errorf("%s: %d", wrong, status)
		}
	}
	if status, _ := s.get("/projects/nobody/signatures/"+leak.Text, "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("a project that is not there: %d", status)
	}
}

func TestTriageForm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, _ := openHistory(t)
	leak := signatureOf(t, s, appendLine)
	path := "/projects/shopd/signatures/" + leak.Text
	version := func() string { return fmt.Sprint(signatureOf(t, s, appendLine).Version) }
	ok := func(pairs ...string) {
		t.Helper()
		status, location := s.fill(path,
			append([]string{"version", version(), "actor", "Ada\u202e Lovelace\x07"}, pairs...)...)
		if status != http.StatusSeeOther || location != path {
			t.Fatalf("%v: %d %.500s", pairs, status, location)
		}
	}
	ok("do", "assign", "assignee", "bob", "ticket", "https://tickets/7")
	has(t, s.page(path), `title="bob" aria-label="bob">BO<`, `href="https://tickets/7"`)
	has(t, s.page(path+"?say=assign"), `name="assignee" value="bob"`)
	ok("do", "assign", "assignee", "bob", "ticket", "javascript:alert(1)") // a text like others
	if page := s.page(path); strings.Contains(page, `href="javascript`) ||
		!strings.Contains(page, `<b>javascript:alert(1)</b>`) {
		t.Error("a ticket that browsers must not follow is a link, or is not shown")
	}
	ok("do", "known", "reason", "until the <new> allocator", "until", "2099-12-31")
	has(t, words(s.page(path)), "known", "Reopen leak…", "Known: until the &lt;new&gt; allocator, until 2099-12-31",
		"Decisions and comments", "Ada Lovelace")
	has(t, s.page("/projects/shopd?state=known"), appendLine)
	ok("do", "open")
	ok("do", "fixed", "fixed_in", "4812") // and 4813, which is newer, leaks
	has(t, words(s.page(path)), "regressed", "fixed in build 4812", "leaks again since build 4813")
	ok("do", "open")
	ok("do", "not-leak", "reason", "a pool that fills up")
	has(t, words(s.page(path)), "Triage", "known", "Marked as not a leak: a pool that fills up",
		"not leak why: – → a pool that fills up")
	lacks(t, words(s.page(path)), "Mark as not a leak…")

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
		if status, page := s.fill(path, form...); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		} else {
			has(t, page, `role="alert"`)
		}
	}
	if status, page := s.fill(path, "version", "0", "do", "assign", "assignee", "carol"); status != http.StatusConflict {
		t.Errorf("a form of an old page: %d", status)
	} else {
		has(t, page, `aria-label="bob"`, "another user changed it first")
	}
	status, location := s.fill(path+"/comments", "text", "it is <b>the</b> cache\r\nsee there", "actor", "")
	if status != http.StatusSeeOther || location != path+"#comments" {
		t.Errorf("a comment: %d to %s", status, location)
	}
	has(t, s.page(path), "<b>somebody</b>", "it is &lt;b&gt;the&lt;/b&gt; cache\nsee there")
	if status, _ := s.fill(path+"/comments", "text", " "); status != http.StatusUnprocessableEntity {
		t.Errorf("an empty comment: %d", status)
	}
	if status, _ := s.fill(path+"/comments", "text",
		strings.Repeat("x", 1<<20)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge comment: %d", status)
	}
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path,
		strings.NewReader("do=open&version=1")))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, _ := s.send(req); status != http.StatusForbidden {
		t.Errorf("a form of another site: %d", status)
	}
}

// The name that somebody typed stands in the next form.
func TestActorIsRemembered(t *testing.T) {
	s, _ := openHistory(t)
	path := "/projects/shopd/signatures/" + signatureOf(t, s, appendLine).Text
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path+"/comments",
		strings.NewReader("text=x&actor=Zo%C3%AB+%22O%22")))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must[*http.Response](t)(client.Do(req))
	_ = res.Body.Close()
	if len(res.Cookies()) != 1 || !res.Cookies()[0].HttpOnly {
		t.Fatalf("cookies %v", res.Cookies())
	}
	has(t, s.page(path, "Cookie", res.Header.Get("Set-Cookie")), `name="actor" value="Zoë &#34;O&#34;"`)
	has(t, s.page(path, "Cookie", "heapdrift_actor=%00%zz"), `name="actor" value=""`)

	// A form without the field uses the remembered name, and leaves it as it is.
	into := signatureOf(t, s, "SearchIndex::Rebuild").Text
	req = must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path+"/merge",
		strings.NewReader("into="+into)))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.AddCookie(res.Cookies()[0])
	res = must[*http.Response](t)(client.Do(req))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 0 {
		t.Errorf("%d, cookies %v", res.StatusCode, res.Cookies())
	}
	has(t, words(s.page("/projects/shopd/signatures/"+into)), "merged by Zoë")
}

// Three snapshots cannot show that a signature is clean, and no page says that it is.
func TestUndecidedIsNotClean(t *testing.T) {
	s, _ := openHistory(t)
	few := target
	few.Build = "4814"
	calm := slices.Clone(shop)
	calm[0].blocks = always(140)
	addRun(t, s.store, few, capturesOf(calm, 3))
	page := s.page("/projects/shopd?q=AppendLine")
	has(t, page, "<title>4811: clean, stable</title>", "<title>4814: seen, inconclusive</title>")
}

// The page of a leak explains its stack also where the newest evidence has it under an older signature.
func TestStackOfMergedLeak(t *testing.T) {
	s, _ := openHistory(t)
	path := "/projects/shopd/signatures/" + signatureOf(t, s, appendLine).Text
	into := signatureOf(t, s, "AuditLog::Note").Text // fixed in 4813, where the other leaks
	if status, location := s.fill(path+"/merge", "into", into); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, location)
	}
	has(t, words(s.page(path)), "Blame rules", appendLine+" your own, blamed")
}

func TestMergeForm(t *testing.T) {
	s, _ := openHistory(t)
	from, into := signatureOf(t, s, "SearchIndex::Rebuild"), signatureOf(t, s, appendLine)
	at := func(sig store.Signature) string { return "/projects/shopd/signatures/" + sig.Text }
	for _, wrong := range []string{"", "nosuch", from.Text} {
		if status, page := s.fill(at(from)+"/merge", "into", wrong); status != http.StatusUnprocessableEntity {
			t.Errorf("into %q: %d", wrong, status)
		} else {
			has(t, page, `role="alert"`)
		}
	}
	if status, location := s.fill(at(from)+"/merge", "into", into.Text); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, location)
	}
	has(t, words(s.page(at(from))), appendLine, "Other names", "SearchIndex::Rebuild",
		"merged by somebody", "Split off")
	if status, location := s.fill(at(into)+"/merge", "split", from.Text); status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", status, location)
	}
	has(t, words(s.page(at(from))), "SearchIndex::Rebuild")
}

func TestCompareBuilds(t *testing.T) {
	s, _ := openHistory(t)
	page := words(s.page("/projects/shopd/compare?base=4811&head=4812&scenario=soak-60min"))
	has(t, page, "Compare builds of shopd", "1 new", "Changes", "all 5 new 1", "same 4", "new",
		"Receipt:: AppendLine", "stable", "leak", "certain", "2.48 MB/hour", "Call stacks of both builds",
		"By module", "shopd", "Base: build 4811", "Head: build 4812")
	lacks(t, page, "worse 0", "not exercised 0") // a group without rows takes no room
	const pair = "/projects/shopd/compare?base=4811&head=4812&scenario=soak-60min"
	for query, rows := range map[string]int{"": 5, "&group=new": 1, "&group=persisting": 4, "&group=fixed": 0,
		"&group=nonsense": 5, "&q=appendline": 1, "&q=shopd&group=persisting": 2, "&q=nosuch": 0} {
		page := s.page(pair + query)
		if n := strings.Count(page, "<tr data-row="); n != rows {
			t.Errorf("%s: %d rows, want %d", query, n, rows)
		}
	}
	has(t, s.page(pair+"&group=new&q=a"),
		`base=4811&amp;group=persisting&amp;head=4812&amp;q=a&amp;scenario=soak-60min#changes`,
		`name="group" value="new"`, `value="a"`)
	has(t, words(s.page(pair+"&q=nosuch")), "No leak matches. Show all")
	page = words(s.page("/projects/shopd/compare"))
	has(t, page, "fixed 1", "AuditLog:: Note", "Base: build 4812", "the baseline of build 4813", "Head: build 4813")
	has(t, words(s.page("/projects/shopd/compare?head=4811")), "There is no older build on the branch of 4811")
	has(t, words(s.page("/projects/shopd/compare?head=nosuch&base=4811")),
		"One of the builds has no run of this scenario.")
	has(t, words(s.page("/projects/shopd/compare?scenario=%3Cb%3E")),
		"No build of the project has a result in the scenario &lt;b&gt;")
	if status, _ := s.get("/projects/nobody/compare", "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("no project: %d", status)
	}
}

func TestFindingsOfRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := open(t)
	run := addRun(t, s.store, target, capturesOf(many(60), 11))
	leak := signatureOf(t, s, appendLine)
	page := s.page(fmt.Sprintf("/runs/%d", run))
	_, table, _ := strings.Cut(page, `id="view"`)
	has(t, words(table), "leak", "AppendLine", "receipt.cpp:118", "2.12 MB", "▲ +2.48 MB/hour", "73 signatures")
	if n := strings.Count(table, "data-row="); n != 50 {
		t.Errorf("%d signatures on the first page", n)
	}
	if n := strings.Count(s.page(fmt.Sprintf("/runs/%d?page=2", run)), "data-row="); n != 23 {
		t.Errorf("%d signatures on the last page", n)
	}
	// A row is addressed by its signature, in whatever order the rows are.
	open := fmt.Sprintf("/runs/%d?open=%s&metric=held", run, url.QueryEscape(leak.Text))
	has(t, words(s.page(open)), "Reasons", "met:", "umdh-snapshot", "Open triage and history", "Assign owner", "1 site")
	has(t, s.page(open), "metric=held",
		`href="/projects/shopd/rules?add=module%3Ashopd+function%3AShop%3A%3AOrders%3A%3AReceipts%3A%3AReceipt%3A%3AAppendLine+-%3E+owner%3DNAME"`)
	part := s.page(open, "HX-Request", "true", "HX-Target", "view")
	if !strings.HasPrefix(part, `<div id="view">`) || strings.Contains(part, `id="q"`) {
		t.Errorf("the part begins with %.100s", part)
	}
	if n := strings.Count(s.page(fmt.Sprintf("/runs/%d?open=none", run)), `class="detail`); n != 0 {
		t.Errorf("%d rows are open where none is asked for", n)
	}
}

func TestRuleOfEachFrame(t *testing.T) {
	s, run := openShop(t)
	page := s.page(sitesOf(run, "open=0"))
	_, table, _ := strings.Cut(page, `<table class="layers">`)
	table, _, _ = strings.Cut(table, "</table>")
	has(t, words(table), "ntdll!RtlAllocateHeap", "allocator", "alloc/ntdll", "shopd!operator new", "AppendLine",
		"your own, blamed", "origin/", "Order::Commit", "blame here instead", "ntdll!RtlUserThreadStart",
		"thread start", "base/thread")
	m := regexp.MustCompile(`Order::Commit</td>(?s:.*?)href="([^"]*)"`).FindStringSubmatch(table)
	if m == nil {
		t.Fatal(table)
	}
	editor := s.page(strings.ReplaceAll(m[1], "&amp;", "&"))
	has(t, editor, "module:shopd function:Shop::Orders::Receipts::Receipt::AppendLine -&gt; plumbing")
}

func TestHostileLeaksStayText(t *testing.T) {
	s := open(t)
	nasty := slices.Clone(shop)
	nasty[0].stack = join(newed, []string{"shopd!" + hostile + "Nasty\u202e+0x1"}, request)
	run := addRun(t, s.store, target, capturesOf(nasty, 11), func(r *analysis.Report) {
		r.Findings[0].Owner, r.Findings[0].Known = "<i>o</i>", "<i>k</i>"
		r.Findings[0].Clauses[0].Text = "<i>c</i>"
	})
	leak := signatureOf(t, s, "nasty")
	sig := url.PathEscape(leak.Text)
	for _, path := range []string{"/projects/shopd", "/projects/shopd/signatures/" + sig,
		fmt.Sprintf("/runs/%d?open=%s", run, sig), sitesOf(run, "open=0"), "/projects/shopd/rules?add=%3Cscript%3E%22%27"} {
		lacks(t, s.page(path), "<script>alert", "<i>", "\u202e", "<script>\"")
	}
}
