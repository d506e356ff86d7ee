package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web"
)

// closedNode is a server that asks for tokens, whose intake a test changes; token is one of project shop.
func closedNode(t *testing.T, change func(*intake.Intake)) (url, token string, s *store.Store) {
	t.Helper()
	n := start(t)
	in := *n.intake
	change(&in)
	server, err := web.New(web.Options{Store: n.store, Blobs: n.blobs, Intake: &in})
	if err != nil {
		t.Fatal(err)
	}
	closed := httptest.NewServer(server.Handler())
	t.Cleanup(closed.Close)
	if err := n.store.CreateProject(t.Context(), "shop", 0, "test"); err != nil {
		t.Fatal(err)
	}
	secret, prefix := accounts.NewToken()
	if _, err := accountstore.CreateToken(t.Context(), n.store, "shop",
		&accountstore.Token{Name: "ci", Prefix: prefix, Scopes: []accounts.Scope{accounts.ScopeUpload}, CreatedBy: "test"},
		secret); err != nil {
		t.Fatal(err)
	}
	return closed.URL, secret.Text, n.store
}

// upload sends a request with a token and returns its status, the code of its problem and when to try again.
func upload(t *testing.T, method, url, token, body string, header ...string) (status int, code string, retry int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var p struct{ Code string }
	_ = json.NewDecoder(res.Body).Decode(&p)
	retry, _ = strconv.Atoi(res.Header.Get("Retry-After"))
	return res.StatusCode, p.Code, retry
}

// When an upload would leave the disk too full, every way of uploading refuses it before the bytes are sent.
func TestNoRoom(t *testing.T) {
	url, token, _ := closedNode(t, func(in *intake.Intake) { in.MinFree = math.MaxInt64 })
	for what, ask := range map[string]func() (int, string, int){
		"PUT":     func() (int, string, int) { return upload(t, "PUT", url+evidence(), token, umdhLog(10)) },
		"symbols": func() (int, string, int) { return upload(t, "PUT", url+"/api/v1/symbols?name=a.pdb", token, "MZ") },
		"tus": func() (int, string, int) {
			return upload(t, "POST", url+"/api/v1/evidence", token, "", "Tus-Resumable", "1.0.0", "Upload-Length", "10",
				"Upload-Metadata", "filename YS50eHQ=,project c2hvcA==,build MQ==")
		},
	} {
		if status, code, retry := ask(); status != 507 || code != "no-space" || retry < 1 {
			t.Errorf("%s: %d %s, again in %d s", what, status, code, retry)
		}
	}
}

// A token may send a limited amount a day; refused uploads do not count, and other tokens are not affected.
func TestQuota(t *testing.T) {
	log := umdhLog(3000)
	size := len(log)
	url, token, db := closedNode(t, func(in *intake.Intake) { in.TokenQuota = int64(2*size + 10) })
	put := func(name, body string) (int, string, int) {
		return upload(t, "PUT", url+evidence("name", name), token, body)
	}
	for i := range 2 {
		if status, code, _ := put(fmt.Sprint(i, ".txt"), log+strings.Repeat(" ", i)); status != 201 {
			t.Fatalf("file %d: %d %s", i, status, code)
		}
	}
	if status, code, retry := put("3.txt", log); status != 429 || code != "quota-used-up" || retry < 1 || retry > 86401 {
		t.Errorf("%d %s, again in %d s", status, code, retry)
	}
	if status, code, _ := upload(t, "POST", url+"/api/v1/evidence", token, "", "Tus-Resumable", "1.0.0", "Upload-Length",
		"100", "Upload-Metadata", "filename YS50eHQ=,project c2hvcA==,build MQ=="); status != 429 {
		t.Errorf("tus: %d %s", status, code)
	}
	if status, code, _ := put("4.txt", "no log"); status == 201 {
		t.Errorf("%d %s", status, code)
	}
	secret, prefix := accounts.NewToken()
	if _, err := accountstore.CreateToken(t.Context(), db, "shop",
		&accountstore.Token{Name: "other", Prefix: prefix, Scopes: []accounts.Scope{accounts.ScopeUpload}, CreatedBy: "test"},
		secret); err != nil {
		t.Fatal(err)
	}
	token = secret.Text
	if status, code, _ := put("5.txt", log+"\r\n"); status != 201 {
		t.Errorf("another token: %d %s", status, code)
	}
}

// Uploads at once share the quota: as many are taken as fit, whichever way they come, and what is refused or given up
// leaves its room to others.
func TestQuotaOfUploadsAtOnce(t *testing.T) {
	log := umdhLog(3000)
	text := func(n int) string { return log + strings.Repeat(" ", n) } // files that differ
	size := len(text(24))
	tus := func(header ...string) []string { return append(header, "Tus-Resumable", "1.0.0") }
	send := func(t *testing.T, method, url, token string, body io.Reader, header ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res
	}
	ways := map[string]func(t *testing.T, url, token string, n int) bool{
		"of known length": func(t *testing.T, url, token string, n int) bool {
			return send(t, "PUT", url+evidence("name", fmt.Sprint(n, ".txt")), token, strings.NewReader(text(n))).StatusCode == http.StatusCreated
		},
		"of unknown length": func(t *testing.T, url, token string, n int) bool {
			return send(t, "PUT", url+evidence("name", fmt.Sprint(n, ".txt")), token, io.MultiReader(strings.NewReader(text(n)))).StatusCode == http.StatusCreated
		},
		"by tus": func(t *testing.T, url, token string, n int) bool {
			res := send(t, "POST", url+"/api/v1/evidence", token, nil, tus("Upload-Length", strconv.Itoa(len(text(n))),
				"Upload-Metadata", "filename YS50eHQ=,project c2hvcA==,build MQ==")...)
			if res.StatusCode != http.StatusCreated {
				return false
			}
			return send(t, "PATCH", url+res.Header.Get("Location"), token, strings.NewReader(text(n)), tus("Upload-Offset", "0",
				"Content-Type", "application/offset+octet-stream")...).StatusCode == http.StatusNoContent
		},
	}
	for what, upload := range ways {
		t.Run(what, func(t *testing.T) {
			url, token, _ := closedNode(t, func(in *intake.Intake) { in.TokenQuota = int64(2*size + size/2) })
			var taken atomic.Int32
			var wait sync.WaitGroup
			for n := range 24 {
				wait.Go(func() {
					if upload(t, url, token, n) {
						taken.Add(1)
					}
				})
			}
			wait.Wait()
			if taken.Load() > 2 || taken.Load() < 1 {
				t.Errorf("%d of 24 are taken where 2 fit", taken.Load())
			}
			for range 2 - taken.Load() { // what was refused at once has given its room back
				if !upload(t, url, token, 23) {
					t.Error("the room of refused uploads is not given back")
				}
			}
			if upload(t, url, token, 24) {
				t.Error("a third is taken")
			}
		})
	}
	t.Run("in part", func(t *testing.T) { // what came of an upload counts, what was announced does not
		url, token, _ := closedNode(t, func(in *intake.Intake) { in.TokenQuota = int64(size) })
		half := text(24)[:size/2]
		res := send(t, "POST", url+"/api/v1/evidence", token, nil, tus("Upload-Length", strconv.Itoa(size),
			"Upload-Metadata", "filename YS50eHQ=,project c2hvcA==,build MQ==")...)
		part := url + res.Header.Get("Location")
		if res := send(t, "PATCH", part, token, strings.NewReader(half), tus("Upload-Offset", "0",
			"Content-Type", "application/offset+octet-stream")...); res.StatusCode != http.StatusNoContent {
			t.Fatal(res.Status)
		}
		put := func() int {
			return send(t, "PUT", url+evidence("name", "b.txt"), token, strings.NewReader(text(24))).StatusCode
		}
		if status := put(); status != http.StatusTooManyRequests {
			t.Errorf("beside half of another file: %d", status)
		}
		if res := send(t, "DELETE", part, token, nil, tus()...); res.StatusCode != http.StatusNoContent {
			t.Fatal(res.Status)
		}
		if status := put(); status != http.StatusCreated {
			t.Errorf("after the other was given up: %d", status)
		}
	})
	t.Run("given up", func(t *testing.T) {
		url, token, _ := closedNode(t, func(in *intake.Intake) { in.TokenQuota = int64(size) })
		for range 3 {
			res := send(t, "POST", url+"/api/v1/evidence", token, nil, tus("Upload-Length", strconv.Itoa(size),
				"Upload-Metadata", "filename YS50eHQ=,project c2hvcA==,build MQ==")...)
			if res.StatusCode != http.StatusCreated {
				t.Fatalf("%s: the room of an upload that was given up is taken", res.Status)
			}
			if res := send(t, "DELETE", url+res.Header.Get("Location"), token, nil, tus()...); res.StatusCode != http.StatusNoContent {
				t.Fatal(res.Status)
			}
		}
	})
}
