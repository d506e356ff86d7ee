package web_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"crypto"
	"crypto/sha256"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/store/storetest"
	"heapdrift/web"
	"heapdrift/web/guard"
	"heapdrift/web/pages/account"
)

// A visitor is a browser: it keeps cookies, and follows no redirect.
type visitor struct {
	*testing.T
	h       http.Handler
	cookies map[string]string
}

func visit(t *testing.T, s *web.Server) *visitor {
	return &visitor{t, s.Handler(), map[string]string{}}
}

// send sends a request; pairs are the fields of a form.
func (v *visitor) send(method, path string, pairs ...string) *httptest.ResponseRecorder {
	v.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r := httptest.NewRequestWithContext(v.Context(), method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	v.h.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if v.cookies[c.Name] = c.Value; c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now()) {
			delete(v.cookies, c.Name)
		}
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			v.Errorf("cookie %s: %s", c.Name, w.Header()["Set-Cookie"])
		}
	}
	return w
}

// want fails the test unless an answer has the status, and leads to the address where it is a redirect.
func (v *visitor) want(w *httptest.ResponseRecorder, status int, location string) *httptest.ResponseRecorder {
	v.Helper()
	if w.Code != status || w.Header().Get("Location") != location {
		v.Fatalf("%d to %q, want %d to %q: %s", w.Code, w.Header().Get("Location"), status, location, w.Body)
	}
	return w
}

func setupLink(t *testing.T, s *store.Store) string {
	t.Helper()
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), s, link, "test"); err != nil {
		t.Fatal(err)
	}
	return account.SetupPath(link.Text)
}

const password = "correct horse"

// The first link makes an admin, who owns everything that exists, and ends the time in which everybody may do
// everything.
func TestFirstAccount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	opt, _ := options(t)
	opt.Access = guard.UntilFirstAccount
	s := newServer(t, opt)
	if err := opt.Store.CreateProject(t.Context(), "old", 0, "somebody"); err != nil {
		t.Fatal(err)
	}
	nobody, ada := visit(t, s), visit(t, s)
	if body := nobody.want(nobody.send("GET", "/"), 200, "").Body.String(); !strings.Contains(body, "Open server") {
		t.Error("the page does not say that the server is open")
	}
	if w := nobody.send("POST", "/accounts", "name", "eve"); w.Code != 422 {
		t.Errorf("somebody makes the first account where it would lock everybody out: %d", w.Code)
	}
	first, second := setupLink(t, opt.Store), setupLink(t, opt.Store)
	ada.want(ada.send("GET", first), 200, "")
	for _, wrong := range [][]string{{"name", "", "password", password, "again", password},
		{"name", "ada", "password", password, "again", "x"}, {"name", "ada", "password", "short", "again", "short"},
		{"name", "somebody", "password", password, "again", password}} {
		if w := ada.send("POST", first, wrong...); w.Code != 422 ||
			!strings.Contains(w.Body.String(), `aria-invalid="true"`) {
			t.Errorf("%v: %d", wrong, w.Code)
		}
	}
	// Another server on the same database knows the link too.
	ada.h = newServer(t, opt).Handler()
	ada.want(ada.send("POST", first, "name", "ada", "password", password, "again", password), 303, "/")
	for _, link := range []string{first, second, "/setup/x", "/setup/" + accounts.NewLink().Text} {
		nobody.want(nobody.send("GET", link), 404, "")
		nobody.want(nobody.send("POST", link, "name", "eve", "password", password, "again", password), 404, "")
	}
	ada.h = s.Handler()
	if body := ada.want(ada.send("GET", "/account"), 200, "").Body.String(); !strings.Contains(body, "/projects/old") ||
		!strings.Contains(body, "you are a server admin") {
		t.Errorf("%s", body)
	}
	nobody.want(nobody.send("GET", "/projects/old?scenario=x"), 303, "/login?next=%2Fprojects%2Fold%3Fscenario%3Dx")
	if w := nobody.send("POST", "/projects/old/baseline"); w.Code != 303 || w.Header().Get("Location") != "/login" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	// A later link of those who run the server opens a second account.
	bob := visit(t, s)
	bob.want(bob.send("POST", setupLink(t, opt.Store), "name", "Ada", "password", password, "again", password), 422, "")
	bob.want(bob.send("POST", setupLink(t, opt.Store), "name", "bob", "password", password, "again", password), 303, "/")
}

func TestLogIn(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	opt, log := options(t)
	opt.Access = guard.ByAccount
	s := newServer(t, opt)
	ada := visit(t, s)
	link := setupLink(t, opt.Store)
	ada.want(ada.send("POST", link, "name", "Ada", "password", password, "again", password), 303, "/")
	if strings.Contains(log.text(), strings.TrimPrefix(link, "/setup/")) {
		t.Error("the log holds the secret of a link")
	}
	before := ada.cookies["heapdrift"]
	ada.want(ada.send("POST", "/logout"), 303, "/login")
	if ada.cookies["heapdrift"] != "" {
		t.Error("the cookie stays")
	}
	ada.cookies["heapdrift"] = before
	ada.want(ada.send("GET", "/"), 303, "/login")
	for next, want := range map[string]string{
		"/runs/1?open=2": "/runs/1?open=2", "": "/", "//evil.example": "/", "https://evil.example/": "/",
		`/\evil.example`: "/", "javascript:alert(1)": "/", "/\tx": "/",
	} {
		ada.want(ada.send("POST", "/login", "name", "ada", "password", password, "next", next), 303, want)
	}
	ada.want(ada.send("GET", "/"), 200, "")
	if ada.cookies["heapdrift"] == before {
		t.Error("a log-in keeps the session of before")
	}

	// An account that does not exist gets the same answer as a wrong password.
	eve := visit(t, s)
	wrong := eve.want(eve.send("POST", "/login", "name", "ada", "password", "wrong horse"), 422, "").Body.String()
	missing := eve.want(eve.send("POST", "/login", "name", "eda", "password", "wrong horse"), 422, "").Body.String()
	if strings.ReplaceAll(missing, "eda", "ada") != wrong {
		t.Error("the answer tells whether there is an account")
	}
	for range accounts.LogIns.MostPerPair {
		eve.send("POST", "/login", "name", "ADA", "password", "wrong horse")
	}
	eve.want(eve.send("POST", "/login", "name", "ada", "password", password), 429, "")
	if w := eve.send("POST", "/login", "name", "eda", "password", password); w.Code != 422 {
		t.Errorf("another name from the same client: %d", w.Code)
	}

	randomName := "" // which does not compress
	for range 1000 {
		randomName += rand.Text()
	}
	// Every login attempt is counted, whatever name is typed, and none is a failure of the server.
	for _, name := range []string{"", randomName, strings.Repeat("é", 300), "\xff\xfe"} {
		if w := eve.send("POST", "/login", "name", name, "password", password); w.Code != 422 {
			t.Errorf("a name of %d bytes: %d", len(name), w.Code)
		}
	}

	// A lock, another password and a lost right end sessions at once; the last admin stays.
	if err := accountstore.UpdateUserLocked(t.Context(), opt.Store, "ada", true, "test"); err == nil {
		t.Error("the last admin is locked out")
	}
	ada.want(ada.send("POST", "/accounts", "name", "bob", "admin", "1"), 200, "")
	newLink := accounts.NewLink()
	if err := accountstore.CreateUserLink(t.Context(), opt.Store, newLink, "bob", "Ada"); err != nil {
		t.Fatal(err)
	}
	bob := visit(t, s)
	bob.want(bob.send("POST", account.SetupPath(newLink.Text), "password", password, "again", password), 303, "/")
	bob.want(bob.send("POST", "/accounts/Ada", "do", "lock"), 303, "/accounts")
	ada.want(ada.send("GET", "/"), 303, "/login")
	bob.want(bob.send("POST", "/accounts/bob", "do", "lock"), 422, "")
	bob.want(bob.send("POST", "/accounts/bob", "do", "no-admin"), 422, "")
	bob.want(bob.send("POST", "/accounts/Ada", "do", "unlock"), 303, "/accounts")
	audit := must[[]store.AuditRow](t)(storetest.Now(t, opt.Store).ListServerChanges(t.Context(),
		store.AuditPage{Limit: 100}))
	told := ""
	for _, r := range audit {
		told += fmt.Sprintf("%s %t %s %s; ", r.Actor, r.Verified, r.Action, r.After)
	}
	for _, want := range []string{`bob true account {"user": "Ada", "locked": true}`,
		`Ada true account {"user": "bob", "admin": true}`, `Ada true log-in`, `test false link`} {
		if !strings.Contains(told, want) {
			t.Errorf("the audit lacks %q: %s", want, told)
		}
	}
}

// Strangers who guess a name lock out other strangers, not the browser that its owner has logged in with.
func TestStrangersLockNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	opt, _ := options(t)
	opt.Access = guard.ByAccount
	s := newServer(t, opt)
	ada := visit(t, s)
	ada.want(ada.send("POST", setupLink(t, opt.Store), "name", "Ada", "password", password, "again", password), 303, "/")
	ada.want(ada.send("POST", "/logout"), 303, "/login")
	first := ada.cookies["heapdrift-device"]
	for i := range accounts.LogIns.MostPerUserName {
		in := accountstore.LogIn{Name: "ada", Client: fmt.Sprintf("203.0.113.%d", i)}
		must[bool](t)(accountstore.TryLogIn(t.Context(), opt.Store, in, accounts.LogIns))
	}
	eve := visit(t, s)
	eve.want(eve.send("POST", "/login", "name", "ada", "password", password), 429, "")
	ada.want(ada.send("POST", "/login", "name", "ada", "password", "wrong horse"), 422, "")
	ada.want(ada.send("POST", "/login", "name", "ada", "password", password), 303, "/")
	if second := ada.cookies["heapdrift-device"]; first == "" || second == "" || second == first {
		t.Errorf("the secrets of the browser: %q, %q", first, second)
	}
	eve.cookies["heapdrift-device"] = first
	eve.want(eve.send("POST", "/login", "name", "ada", "password", password), 429, "")
}

// No more guesses are allowed when they are sent at once than when they are sent one after another.
func TestGuessesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	opt, _ := options(t)
	opt.Access = guard.ByAccount
	s := newServer(t, opt)
	ada := visit(t, s)
	ada.want(ada.send("POST", setupLink(t, opt.Store), "name", "Ada", "password", password, "again", password), 303, "/")
	var heard sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 4 * accounts.LogIns.MostPerPair {
		eve := visit(t, s)
		heard.Go(func() {
			w := eve.send("POST", "/login", "name", "ada", "password", "wrong horse")
			mu.Lock()
			defer mu.Unlock()
			answers[w.Code]++
		})
	}
	heard.Wait()
	if answers[422] != accounts.LogIns.MostPerPair || answers[429] != 3*accounts.LogIns.MostPerPair {
		t.Errorf("%d guesses at once: %v", 4*accounts.LogIns.MostPerPair, answers)
	}
}

// What a member does carries the name of the account, whatever the form says, and is marked as verified.
func TestActorIsWhoLoggedIn(t *testing.T) {
	tm := newTeam(t)
	v := visit(t, tm.server)
	name, value, _ := strings.Cut(tm.who["admin"].Get("Cookie"), "=")
	v.cookies[name] = value
	v.want(v.send("POST", "/projects/ours/rules", "text", "# ours", "version", "0", "do", "save", "actor", "Mallory"), 303,
		"/projects/ours/rules?saved=1")
	w := v.want(v.send("POST", "/projects/ours/settings/tokens", "name", "nightly", "scope", "upload",
		"expires", "6"), 200, "")
	if !strings.Contains(w.Body.String(), `id="new-token">hd_`) ||
		w.Header().Get("Cache-Control") != "no-store, no-transform" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("%v", w.Header())
	}
	v.want(v.send("POST", "/projects/ours/settings/tokens", "name", "nightly", "expires", "6"), 422, "")
	v.want(v.send("POST", "/projects/ours/settings/members", "user", "nobody-known", "role", "member"), 422, "")
	v.want(v.send("POST", "/projects/ours/settings/members", "user", "OTHER", "role", "viewer"), 303,
		"/projects/ours/settings#members")
	if wrong := v.want(v.send("POST", "/projects/ours/settings/sources", "sources", "c:\\src javascript:{path}"), 422,
		"").Body.String(); !strings.Contains(wrong, "line 1: javascript:{path} does not begin with https") ||
		!strings.Contains(wrong, `c:\src javascript:{path}</textarea>`) {
		t.Errorf("a source link that is none: %s", wrong)
	}
	v.want(v.send("POST", "/projects/ours/settings/sources", "sources", "c:\\src https://git.example/{path}#L{line}"), 303,
		"/projects/ours/settings#sources")
	retention := []string{"evidence_days", "30", "evidence_bytes", "1.5", "run_days", "", "run_bytes", "0"}
	v.want(v.send("POST", "/projects/ours/settings/retention", retention...), 303, "/projects/ours/settings#retention")
	kept := must[leaks.Retention](t)(storetest.Now(t, tm.store).FindRetention(t.Context(), "ours"))
	if kept.EvidenceDays == nil || *kept.EvidenceDays != 30 || kept.EvidenceBytes == nil || *kept.EvidenceBytes != 3<<29 ||
		kept.RunDays != nil || kept.RunBytes == nil || *kept.RunBytes != 0 {
		t.Errorf("%+v", kept)
	}
	for _, wrong := range []string{"a week", "1.5", "-1", "NaN", "1e19"} {
		body := v.want(v.send("POST", "/projects/ours/settings/retention", "run_days", wrong), 422, "").Body.String()
		if !strings.Contains(body, `id="run_days-wrong"`) {
			t.Errorf("%s: the page does not say what is wrong", wrong)
		}
	}
	if body := v.want(v.send("GET", "/projects/ours/settings"), 200, "").Body.String(); !strings.Contains(body, `name="evidence_bytes" type="text" inputmode="decimal" value="1.5"`) {
		t.Error("the page does not show what is kept")
	}
	v.want(v.send("POST", "/projects/ours/settings/hold", "reason", ""), 422, "")
	v.want(v.send("POST", "/projects/ours/settings/hold", "reason", "case 7"), 303, "/projects/ours/settings#retention")
	if body := v.want(v.send("GET", "/projects/ours/settings"), 200, "").Body.String(); !strings.Contains(body, "case 7") {
		t.Error("the page does not show the hold")
	}
	v.want(v.send("POST", "/projects/ours/settings/delete", "confirm", "ours"), 409, "")
	v.want(v.send("POST", "/projects/ours/settings/hold", "lift", "1"), 303, "/projects/ours/settings#retention")
	run := fmt.Sprintf("/runs/%d", tm.run)
	v.want(v.send("POST", run+"/hold", "reason", "case 8"), 303, run)
	v.want(v.send("POST", run+"/delete"), 409, "")
	v.want(v.send("POST", run+"/hold", "lift", "1"), 303, run)
	v.want(v.send("POST", "/projects/ours/settings/rename", "to", "theirs"), 422, "")
	v.want(v.send("POST", "/projects/ours/settings/rename", "to", "ours again"), 303, "/projects/ours%20again/settings")
	view := storetest.Now(t, tm.store)
	if rules := must[store.RuleFile](t)(view.FindRules(t.Context(), "ours again")); rules.Author != "admin" ||
		!rules.Verified {
		t.Errorf("%+v", rules)
	}
	if w := tm.ask(tm.server.Handler(), "upload", "HEAD", "/api/v1/evidence/"+tm.upload, "Tus-Resumable",
		"1.0.0"); w.Code != 200 {
		t.Errorf("an upload under way when the project is renamed: %d", w.Code)
	}
	body := v.want(v.send("GET", "/projects/ours%20again/settings"), 200, "").Body.String()
	if !strings.Contains(body, "https://git.example/{path}#L{line}</textarea>") {
		t.Error("the source links are not kept")
	}
	if !strings.Contains(body, "<b>admin</b> <span>project</span>") ||
		!strings.Contains(body, "<b>test</b> <span title=") {
		t.Error("the audit does not say who is verified")
	}
}

// provider is an OpenID Connect provider for one person, which checks what it is asked.
type provider struct {
	*httptest.Server
	t         *testing.T
	key       *rsa.PrivateKey
	claims    map[string]any
	challenge string
	nonce     string
}

func newProvider(t *testing.T) *provider {
	p := &provider{t: t, key: must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))}
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL +
			"/token", "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig",
			"n": encode(p.key.N.Bytes()), "e": "AQAB"}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if r.FormValue("code") != "the-code" || encode(sum[:]) != p.challenge {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		reply(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.idToken()})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *provider) idToken() string {
	claims := map[string]any{"iss": p.URL, "aud": "heapdrift", "exp": time.Now().Add(time.Minute).Unix(),
		"iat": time.Now().Unix(), "nonce": p.nonce}
	for name, value := range p.claims {
		claims[name] = value
	}
	text := must[[]byte](p.t)(json.Marshal(claims))
	signed := encode([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encode(text)
	sum := sha256.Sum256([]byte(signed))
	return signed + "." + encode(must[[]byte](p.t)(rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])))
}

// logIn goes from the login page to the provider and back.
func (p *provider) logIn(v *visitor, change func(back url.Values)) *httptest.ResponseRecorder {
	p.t.Helper()
	w := v.send("GET", "/login/issuer?next=%2Faccount")
	to := must[*url.URL](p.t)(url.Parse(w.Header().Get("Location")))
	asked := to.Query()
	if w.Code != 303 || !strings.HasPrefix(to.String(), p.URL+"/authorize?") ||
		asked.Get("code_challenge_method") != "S256" ||
		asked.Get("redirect_uri") != "http://example.com/login/issuer/return" {
		p.t.Fatalf("%d %s", w.Code, to)
	}
	p.challenge, p.nonce = asked.Get("code_challenge"), asked.Get("nonce")
	back := url.Values{"code": {"the-code"}, "state": {asked.Get("state")}}
	if change != nil {
		change(back)
	}
	return v.send("GET", "/login/issuer/return?"+back.Encode())
}

func TestLogInByIssuer(t *testing.T) {
	p := newProvider(t)
	opt, _ := options(t)
	opt.Access, opt.Issuer = guard.ByAccount, &account.Issuer{Name: "Shop ID", URL: p.URL, ClientID: "heapdrift"}
	s := newServer(t, opt)
	first := visit(t, s)
	first.want(first.send("POST", setupLink(t, opt.Store), "name", "cara", "password", password,
		"again", password), 303, "/")
	if body := first.send("GET", "/login").Body.String(); !strings.Contains(body, "Log in with Shop ID") {
		t.Error("the page of log-ins does not offer the provider")
	}

	p.claims = map[string]any{"sub": "17", "preferred_username": "cara", "email": "cara@shop.example"}
	cara := visit(t, s)
	cara.want(p.logIn(cara, nil), 303, "/account")
	// A local account has the name already: the provider's user does not get that account.
	if body := cara.want(cara.send("GET", "/account"), 200, "").Body.String(); !strings.Contains(body,
		"<h1>cara 2</h1>") || strings.Contains(body, "administer") {
		t.Error(body)
	}
	cara.want(p.logIn(cara, nil), 303, "/account")
	if list := must[[]accountstore.User](t)(
		accountstore.ListUsers(t.Context(), storetest.Now(t, opt.Store))); len(list) != 2 {
		t.Errorf("%+v", list)
	}
	cara.want(cara.send("POST", "/login", "name", "cara 2", "password", ""), 422, "")

	for what, attack := range map[string]func(back url.Values){
		"another state": func(back url.Values) { back.Set("state", "x") },
		"no state":      func(back url.Values) { back.Del("state") },
		"another code":  func(back url.Values) { back.Set("code", "x") },
		"refused":       func(back url.Values) { back.Set("error", "access_denied") },
		"nonce":         func(url.Values) { p.nonce = "x" },
		"challenge":     func(url.Values) { p.challenge = "x" },
		"audience":      func(url.Values) { p.claims["aud"] = "other" },
		"issuer":        func(url.Values) { p.claims["aud"], p.claims["iss"] = "heapdrift", "https://evil.example" },
		"too late":      func(url.Values) { delete(p.claims, "iss"); p.claims["exp"] = 1 },
	} {
		eve := visit(t, s)
		if w := p.logIn(eve, attack); w.Code < 400 || eve.cookies["heapdrift"] != "" {
			t.Errorf("%s: %d %v", what, w.Code, eve.cookies)
		}
		delete(p.claims, "exp")
		delete(p.claims, "aud")
		delete(p.claims, "iss")
	}
	eve := visit(t, s)
	if w := eve.send("GET", "/login/issuer/return?code=the-code&state="); w.Code != 400 {
		t.Errorf("a return that nobody began: %d", w.Code)
	}
	if err := accountstore.UpdateUserLocked(t.Context(), opt.Store, "cara 2", true, "test"); err != nil {
		t.Fatal(err)
	}
	if w := p.logIn(visit(t, s), nil); w.Code != 403 {
		t.Errorf("a locked account: %d", w.Code)
	}
}
