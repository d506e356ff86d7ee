package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web"
)

// HEAD answers wherever GET does, with its status and headers and without its body.
func TestHead(t *testing.T) {
	opt, _ := options(t)
	s, err := web.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	ask := func(method, path string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "identity")
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	asked := 0
	for _, route := range s.Handler().(*echo.Echo).Routes() {
		if route.Method != http.MethodGet || route.Path == "/runs/:id/events" {
			continue
		}
		path := strings.NewReplacer(":id", "7", ":project", "none", ":signature", "none", ":name", "a.pdb", ":key", "1",
			":file", "a.pdb", "*", "none").Replace(route.Path)
		get, head := ask(http.MethodGet, path), ask(http.MethodHead, path)
		if head.StatusCode != get.StatusCode || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: GET %d %s, HEAD %d %s", path, get.StatusCode, get.Header.Get("Content-Type"), head.StatusCode,
				head.Header.Get("Content-Type"))
		}
		if n, _ := head.Body.Read(make([]byte, 1)); n != 0 {
			t.Errorf("%s: HEAD has a body", path)
		}
		asked++
	}
	if asked < 20 {
		t.Errorf("%d routes only", asked)
	}
	if got := ask(http.MethodGet, "/api/v1/openapi.yaml"); got.StatusCode != http.StatusOK ||
		ask(http.MethodHead, "/api/v1/openapi.yaml").StatusCode != http.StatusOK {
		t.Error("the description is not there")
	}
	run, err := opt.Store.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "app", Build: "1", Scenario: "default",
		Run: "1"},
		store.Evidence{Name: "a.txt", SHA256: strings.Repeat("0", 64), Bytes: 1, Kind: "umdh-snapshot"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{fmt.Sprintf("/runs/%d/events", run.RunID): http.StatusMethodNotAllowed,
		"/api/v1/symbols": http.StatusMethodNotAllowed, "/nothing": http.StatusNotFound} {
		if got := ask(http.MethodHead, path).StatusCode; got != want {
			t.Errorf("HEAD %s: %d, want %d", path, got, want)
		}
	}
}
