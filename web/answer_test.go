package web

import "testing"

func TestClassOfRoute(t *testing.T) {
	for route, want := range map[string]string{
		"/": "page", "/runs/:id": "page", "/runs/:id/events": "wait", "/operators": "page", "": "page",
		"/api/v1/runs/:id": "api", "/api/v1/runs/:id/verdict": "wait", "/api/v1/evidence/:id": "upload", "/upload": "upload",
		"/api/v1/symbols": "upload", "/symbols/:name/:key/:file": "symbols", "/static/*": "file", "/download": "page",
		"/download/:platform/:file": "file", "/healthz": "health", "/readyz": "health",
	} {
		if got := classOfRoute(route); got != want {
			t.Errorf("%s is %s, want %s", route, got, want)
		}
	}
}
