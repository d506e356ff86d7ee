package web_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/web"
	"heapdrift/web/guard"
	"heapdrift/web/pages/account"
	"heapdrift/web/problem"
)

// A team is a server with two projects, "ours" and "theirs", somebody of each kind, and a token of each scope.
type team struct {
	testing.TB
	options web.Options
	store   *store.Store
	server  *web.Server
	guard   *guard.Guard
	run     int64  // of ours
	upload  string // under way, of ours
	who     map[string]http.Header
}

// actors in the order of the columns below: without an account; with each role in ours; who administers the server; an
// admin of theirs; tokens of ours by scope; an admin token of theirs.
var actors = []string{"nobody", "viewer", "member", "admin", "server", "other", "upload", "read",
	"admin token", "other token"}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func newTeam(t testing.TB) *team {
	t.Helper()
	opt, _ := options(t)
	opt.Access, opt.Issuer = guard.ByAccount, &account.Issuer{Name: "id", URL: "https://id.invalid", ClientID: "x"}
	tm := &team{TB: t, options: opt, store: opt.Store, server: newServer(t, opt),
		guard: guard.New(opt.Store, guard.ByAccount), who: map[string]http.Header{"nobody": {}}}
	ctx := t.Context()
	target := leaks.UploadTarget{Project: "ours", Build: "1", Scenario: "default", Run: "1"}
	tm.run = must[store.Evidence](t)(opt.Store.CreateEvidence(ctx, target,
		store.Evidence{Name: "a.txt", SHA256: strings.Repeat("0", 64), Bytes: 1, Kind: "umdh-snapshot"})).RunID
	target.Project = "theirs"
	must[store.Evidence](t)(opt.Store.CreateEvidence(ctx, target,
		store.Evidence{Name: "a.txt", SHA256: strings.Repeat("1", 64), Bytes: 1, Kind: "umdh-snapshot"}))
	tm.upload = "UPLOADOFOURSABCDEFGHIJKLMN"
	if err := uploadstore.CreateUpload(ctx, opt.Store,
		uploadstore.Upload{ID: tm.upload, Length: 10,
			Target: []byte(`{"project":"ours","build":"1","scenario":"default","run":"1","name":"b.txt"}`)}); err != nil {
		t.Fatal(err)
	}
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(ctx, opt.Store, link, "test"); err != nil {
		t.Fatal(err)
	}
	must[accountstore.User](t)(accountstore.UseLink(ctx, opt.Store, link.Digest, "first", ""))
	for name, role := range map[string]accounts.Role{"viewer": accounts.Viewer, "member": accounts.Member,
		"admin": accounts.Admin, "server": "", "other": accounts.Admin} {
		must[accountstore.User](t)(accountstore.CreateUser(ctx, opt.Store, name, "", name == "server", "test"))
		if role != "" {
			project := map[bool]string{true: "theirs", false: "ours"}[name == "other"]
			if err := accountstore.UpdateMember(ctx, opt.Store, project, name, role, "test"); err != nil {
				t.Fatal(err)
			}
		}
		tm.who[name] = http.Header{"Cookie": {tm.session(name)}}
	}
	for name, scope := range map[string]accounts.Scope{"upload": accounts.ScopeUpload, "read": accounts.ScopeRead,
		"admin token": accounts.ScopeAdmin, "other token": accounts.ScopeAdmin} {
		project := map[bool]string{true: "theirs", false: "ours"}[name == "other token"]
		tm.who[name] = http.Header{"Authorization": {"Bearer " + tm.token(project, nil, scope)}}
	}
	return tm
}

// session is the cookie of a user who has logged in.
func (tm *team) session(name string) string {
	tm.Helper()
	user := must[accountstore.User](tm.TB)(store.Read(tm.Context(), tm.store,
		func(v store.View) (accountstore.User, error) {
			return accountstore.FindUserByName(tm.Context(), v, name)
		}))
	w := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequestWithContext(tm.Context(), http.MethodPost, "/login", nil), w)
	if err := tm.guard.LogIn(c, &user); err != nil {
		tm.Fatal(err)
	}
	return strings.Split(w.Header().Get("Set-Cookie"), ";")[0]
}

func (tm *team) token(project string, expires *time.Time, scopes ...accounts.Scope) string {
	tm.Helper()
	secret, prefix := accounts.NewToken()
	must[accountstore.Token](tm.TB)(accountstore.CreateToken(tm.Context(), tm.store, project,
		&accountstore.Token{Name: "ci", Prefix: prefix, Scopes: scopes, CreatedBy: "test", ExpiresAt: expires}, secret))
	return secret.Text
}

// ask sends a request as somebody.
func (tm *team) ask(h http.Handler, who, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(tm.Context(), method, path, nil)
	maps.Copy(r.Header, tm.who[who])
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// classes give the answer of a route to each of the actors: "." lets through, 1 is 401, 3 is 403, 4 is 404.
var classes = map[string]string{
	"public":  "..........",
	"known":   "1.........",
	"server":  "1444.44444",
	"uploads": "13.....3..", // in whatever project
	"symbols": "1.....3...",
	"decide":  "1....4...4",
	"read":    "1....43..4",
	"upload":  "13...4.3.4",
	"change":  "13...433.4",
	"manage":  "133..433.4",
}

// wanted is the class of each route, written here a second time: the table of package guard must say the same.
var wanted = map[string]string{
	"public": `
		GET /healthz, GET /readyz, GET /favicon.ico, GET /static/*, GET /api/v1/openapi.yaml, GET /download, GET /download/:platform/:file, OPTIONS /api/v1/evidence, POST /api/v1/restored, GET /login, POST /login, POST /logout,
		GET /login/issuer, GET /login/issuer/return, GET /setup/:code, POST /setup/:code`,
	"known": `GET /, GET /account, GET /search`,
	"server": `GET /operators, GET /accounts, POST /accounts, POST /accounts/:user, POST /accounts/:user/link, POST /projects, GET /api/v1/audit, POST /api/v1/projects,
		POST /operators/retry, GET /api/v1/failures, POST /api/v1/failures/retry`,
	"uploads": `GET /upload, POST /upload, POST /upload/glance, POST /symbols, PUT /api/v1/symbols`,
	"symbols": `GET /symbols/*, GET /symbols/:name/:key/:file, GET /symbols/:name/:key/msfz0/:file`,
	"decide":  `GET /api/v1/runs/:id, GET /api/v1/runs/:id/verdict, GET /api/v1/runs/:id/decisions, GET /api/v1/projects/:project/builds/:build`,
	"read": `GET /api/v1/runs/:id/tests, GET /api/v1/runs/:id/unaccepted, GET /runs/:id/accept, GET /runs/:id/tests, 
		GET /api/v1/runs/:id/report, GET /api/v1/runs/:id/window, GET /api/v1/runs/:id/views/:view, GET /api/v1/runs/:id/allocations, GET /runs/:id, GET /runs/:id/sites/:ordinal, GET /runs/:id/memory, GET /runs/:id/events,
		GET /api/v1/compare, GET /api/v1/compare/tree, GET /api/v1/projects/:project, GET /api/v1/projects/:project/retention, GET /projects/:project, GET /projects/:project/symbols, GET /projects/:project/kit, GET /projects/:project/kit.zip, GET /projects/:project/compare, GET /projects/:project/rules,
		GET /projects/:project/signatures/:signature, GET /api/v1/runs/:id/evidence/:file, GET /projects/:project/policy, GET /api/v1/projects/:project/policy, POST /api/v1/projects/:project/policy/preview, GET /api/v1/projects/:project/audit, GET /api/v1/projects/:project/rules, POST /api/v1/projects/:project/rules/preview, GET /api/v1/projects/:project/suppressions,
		GET /api/v1/projects/:project/signatures, GET /api/v1/projects/:project/signatures/:signature, GET /api/v1/projects/:project/signatures/:signature/audit`,
	"upload": `
		PUT /api/v1/evidence, POST /api/v1/evidence, HEAD /api/v1/evidence/:id, PATCH /api/v1/evidence/:id, DELETE /api/v1/evidence/:id, POST /api/v1/evidence/:id,
		PUT /api/v1/projects/:project/builds/:build/ancestors, POST /api/v1/projects/:project/builds/:build/symbols, POST /api/v1/runs/:id/complete, PUT /api/v1/runs/:id/recording, POST /api/v1/projects/:project/restored, POST /api/v1/runs/:id/symbolise, POST /runs/:id/symbolise,
		POST /api/v1/runs/:id/retry, POST /api/v1/runs/:id/cancel, POST /runs/:id/retry, POST /runs/:id/cancel`,
	"change": `
		POST /api/v1/runs/:id/process, POST /runs/:id/process, POST /runs/:id/accept, POST /api/v1/runs/:id/accept, POST /projects/:project/rules, POST /projects/:project/rules/import, POST /projects/:project/baseline,
		POST /projects/:project/signatures, POST /projects/:project/signatures/:signature, POST /projects/:project/signatures/:signature/comments, POST /projects/:project/signatures/:signature/merge,
		POST /api/v1/projects/:project/baseline, PUT /api/v1/projects/:project/rules, POST /api/v1/projects/:project/rules/import, PATCH /api/v1/projects/:project/signatures/:signature,
		POST /api/v1/projects/:project/signatures/:signature/comments, POST /api/v1/projects/:project/signatures/:signature/merge`,
	"manage": `
		DELETE /api/v1/runs/:id/evidence/:file, DELETE /api/v1/runs/:id, POST /runs/:id/delete, POST /projects/:project/settings/delete, POST /projects/:project/settings/builds,
		PUT /api/v1/projects/:project/retention, PUT /api/v1/projects/:project/hold, DELETE /api/v1/projects/:project/hold, PUT /api/v1/runs/:id/hold, DELETE /api/v1/runs/:id/hold, POST /runs/:id/hold,
		POST /projects/:project/settings/retention, POST /projects/:project/settings/hold,
		DELETE /api/v1/projects/:project, DELETE /api/v1/projects/:project/builds/:build,
		PATCH /api/v1/projects/:project, PATCH /api/v1/projects/:project/builds/:build,
		POST /projects/:project/policy, PUT /api/v1/projects/:project/policy,
		GET /projects/:project/settings, POST /projects/:project/settings/rename, POST /projects/:project/settings/members, POST /projects/:project/settings/tokens, POST /projects/:project/settings/sources,
		POST /projects/:project/settings/tokens/:number, GET /api/v1/projects/:project/tokens, POST /api/v1/projects/:project/tokens, DELETE /api/v1/projects/:project/tokens/:number,
		GET /api/v1/projects/:project/members, PUT /api/v1/projects/:project/members/:user, DELETE /api/v1/projects/:project/members/:user`,
}

func classOf() map[string]string {
	of := map[string]string{}
	for class, routes := range wanted {
		for route := range strings.SplitSeq(routes, ",") {
			of[strings.TrimSpace(route)] = class
		}
	}
	return of
}

var param = regexp.MustCompile(`:[a-z]+|\*`)

// address fills a project and a run, or an upload, into a route.
func (tm *team) address(route *echo.Route, project string, run int64, upload string) string {
	path := param.ReplaceAllStringFunc(route.Path, func(name string) string {
		switch {
		case name == ":project":
			return project
		case name == ":id" && strings.HasPrefix(route.Path, "/api/v1/evidence"):
			return upload
		case name == ":id":
			return fmt.Sprint(run)
		case name == "*":
			return "x/y"
		}
		return "1"
	})
	if strings.HasPrefix(route.Path, "/api/v1/compare") || route.Path == "/api/v1/evidence" {
		path += "?project=" + url.QueryEscape(project)
	}
	return path
}

// metadata announces an upload to a project.
func metadata(project string) string {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return "filename " + encode("x.txt") + ",project " + encode(project) + ",build " + encode("1")
}

// Every route of the router is asked as every actor: no route is missing here, and each lets in the right actors. A
// handler that only reports that it was reached stands behind the guard, in place of the real handlers.
func TestEveryRouteAsEverybody(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	tm := newTeam(t)
	passed := echo.New()
	passed.HTTPErrorHandler = func(err error, c echo.Context) { _ = problem.FromError(err).Send(c) }
	passed.Use(tm.guard.Check)
	routes := tm.server.Routes()
	for _, r := range routes {
		passed.Add(r.Method, r.Path, func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	}
	class := classOf()
	seen := map[string]bool{}
	for _, r := range routes {
		name := r.Method + " " + r.Path
		if r.Method == http.MethodHead && class[name] == "" {
			name = http.MethodGet + " " + r.Path
		}
		seen[name] = true
		if class[name] == "" {
			t.Errorf("who may call %s is not written down here", name)
			continue
		}
		path, got := tm.address(r, "ours", tm.run, tm.upload), ""
		for _, who := range actors {
			status := tm.ask(passed, who, r.Method, path, "Upload-Metadata", metadata("ours")).Code
			got += map[int]string{204: ".", 401: "1", 403: "3", 404: "4"}[status]
		}
		if got != classes[class[name]] {
			t.Errorf("%s answers %s to %s, want %s", name, got, strings.Join(actors, ", "), classes[class[name]])
		}
	}
	for name := range class {
		if !seen[name] {
			t.Errorf("%s is no route", name)
		}
	}
}

var requestIDs = regexp.MustCompile(`urn:heapdrift:request:[A-Z0-9]+|mono">[A-Z0-9]{26}<`)

// The whole server answers for what an actor may not see exactly as for what does not exist: status, headers and body.
func TestNotYoursIsNotThere(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	tm := newTeam(t)
	h := tm.server.Handler()
	for _, r := range tm.server.Routes() {
		there, nowhere := tm.address(r, "ours", tm.run, tm.upload), tm.address(r, "none", 1<<40, "NOUPLOADATALLABCDEFGHIJKLM")
		if there == nowhere || classOf()[r.Method+" "+r.Path] == "public" {
			continue
		}
		for _, who := range []string{"nobody", "other", "other token"} {
			for _, accept := range []string{"application/json", "text/html"} {
				var answers [2]string
				for i, path := range []string{there, nowhere} {
					project := []string{"ours", "none"}[i]
					w := tm.ask(h, who, r.Method, path, "Accept", accept, "Upload-Metadata", metadata(project), "Tus-Resumable",
						"1.0.0", "Upload-Length", "5")
					header := w.Header().Clone()
					header.Del("X-Request-Id")
					location := strings.ReplaceAll(header.Get("Location"), url.QueryEscape(path), "HERE")
					header.Set("Location", location)
					answers[i] = fmt.Sprint(w.Code, header,
						requestIDs.ReplaceAllString(strings.ReplaceAll(w.Body.String(), path, "HERE"), "ID"))
				}
				if answers[0] != answers[1] {
					t.Errorf("%s %s as %s is answered\n%s\nand where there is none\n%s", r.Method, r.Path, who, answers[0], answers[1])
				}
				if !strings.HasPrefix(answers[0], "40") && !strings.HasPrefix(answers[0], "303") {
					t.Errorf("%s %s as %s: %.60s", r.Method, r.Path, who, answers[0])
				}
			}
		}
	}
}

// The rights of a comparison are those of the runs that it names, whatever project it names beside them.
func TestComparisonOfOthersRuns(t *testing.T) {
	tm := newTeam(t)
	for _, query := range []string{"head_run=%d", "project=theirs&head_run=%d", "base_run=%d",
		"project=theirs&base_run=%d&head=1", "project=theirs&head_run=%d&base_run=%[1]d"} {
		path := "/api/v1/compare?" + fmt.Sprintf(query, tm.run)
		if w := tm.ask(tm.server.Handler(), "other", http.MethodGet, path); w.Code != 404 ||
			!strings.Contains(w.Body.String(), `"not-found"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// The form names its project in its body, which the guard does not read, so its handler checks the right.
func TestFormToAnotherProject(t *testing.T) {
	tm := newTeam(t)
	send := func(who, project string) int {
		var b bytes.Buffer
		b.WriteString("--B\r\nContent-Disposition: form-data; name=\"project\"\r\n\r\n" + project +
			"\r\n--B\r\nContent-Disposition: form-data; name=\"build\"\r\n\r\n7\r\n" +
			"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.txt\"\r\n\r\nno evidence\r\n--B--\r\n")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/upload", &b)
		maps.Copy(r.Header, tm.who[who])
		r.Header.Set("Content-Type", "multipart/form-data; boundary=B")
		w := httptest.NewRecorder()
		tm.server.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		who, project string
		want         int
	}{{"member", "ours", 422}, {"member", "theirs", 404}, {"member", "new", 404}, {"other", "ours", 404},
		{"server", "new", 422}, {"viewer", "ours", 403}, {"nobody", "ours", 401}} {
		if got := send(c.who, c.project); got != c.want {
			t.Errorf("%s uploads to %s: %d, want %d", c.who, c.project, got, c.want)
		}
	}
}

// Lists of projects hold only projects that the actor may see.
func TestProjectsOfSomebody(t *testing.T) {
	tm := newTeam(t)
	for who, want := range map[string]string{"viewer": "ours", "other": "theirs", "server": "ours theirs",
		"upload": "ours", "other token": "theirs"} {
		body := tm.ask(tm.server.Handler(), who, http.MethodGet, "/", "Accept", "text/html").Body.String()
		var got []string
		for _, name := range []string{"ours", "theirs"} {
			if strings.Contains(body, `href="/projects/`+name+`"`) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s sees %v, want %s", who, got, want)
		}
		if !strings.Contains(body, "Bearer $HEAPDRIFT_TOKEN") {
			t.Errorf("the line for scripts that %s sees has no token", who)
		}
	}
}

// Tokens that have expired, were revoked or never existed do not let in, not even beside a session.
func TestTokensEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	tm := newTeam(t)
	path := fmt.Sprintf("/api/v1/runs/%d", tm.run)
	soon := time.Now().Add(time.Hour)
	good := tm.token("ours", &soon, accounts.ScopeRead)
	try := func(header ...string) int {
		return tm.ask(tm.server.Handler(), "nobody", http.MethodGet, path, header...).Code
	}
	basic := func(name, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
	}
	for header, want := range map[string]int{
		"Bearer " + good: 200, "bearer  " + good: 200, basic("symsrv", good): 200, basic("", good): 200,
		"Bearer " + good + "x": 401, "Bearer ": 401, "Bearer hd_": 401, basic(good, ""): 401, "Digest " + good: 401,
		"Basic !": 401, "": 401,
	} {
		if got := try("Authorization", header); got != want {
			t.Errorf("%q: %d, want %d", header, got, want)
		}
	}
	list := must[[]accountstore.Token](t)(store.Read(t.Context(), tm.store,
		func(v store.View) ([]accountstore.Token, error) {
			return accountstore.ListTokens(t.Context(), v, "ours")
		}))
	at := slices.IndexFunc(list, func(t accountstore.Token) bool { return t.ExpiresAt != nil })
	if list[at].LastUsedAt == nil {
		t.Error("that the token was used is not noted")
	}
	if err := accountstore.RevokeToken(t.Context(), tm.store, "theirs", list[at].ID, "test"); err == nil ||
		try("Authorization", "Bearer "+good) != 200 {
		t.Error("a token is revoked by way of another project")
	}
	if err := accountstore.RevokeToken(t.Context(), tm.store, "ours", list[at].ID, "test"); err != nil ||
		try("Authorization", "Bearer "+good) != 401 {
		t.Errorf("a token that is revoked lets in: %v", err)
	}
	if got := try("Authorization", "Bearer "+good, "Cookie", tm.who["viewer"].Get("Cookie")); got != 401 {
		t.Errorf("a token that is no good, beside a session: %d", got)
	}
	end := time.Now().Add(300 * time.Millisecond)
	ending := tm.token("ours", &end, accounts.ScopeRead)
	await.Until(t, "the end of a token", func() bool { return try("Authorization", "Bearer "+ending) != 200 })
	if time.Now().Before(end) {
		t.Error("a token ends before its end")
	}
	past := time.Now().Add(-time.Second)
	if _, err := accountstore.CreateToken(t.Context(), tm.store, "ours", &accountstore.Token{Name: "x", ExpiresAt: &past},
		accounts.Secret{}); err == nil {
		t.Error("a token that has ended is made")
	}
}

// BenchmarkWho measures what it costs to find out who asks, and what they may do, by a request for the state of a run.
func BenchmarkWho(b *testing.B) {
	tm := newTeam(b)
	path := fmt.Sprintf("/api/v1/runs/%d", tm.run)
	opt := tm.options
	opt.Access = guard.Everybody
	open := must[*web.Server](b)(web.New(opt))
	for _, c := range []struct {
		name, who string
		h         http.Handler
	}{{"open server", "nobody", open.Handler()}, {"token", "read", tm.server.Handler()},
		{"session", "viewer", tm.server.Handler()}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if w := tm.ask(c.h, c.who, http.MethodGet, path); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
