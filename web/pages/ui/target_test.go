package ui

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
)

// The command for a push is one that the shells of Windows and others read alike, whatever was typed.
func TestPush(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://heapdrift:8080/upload", http.NoBody)
	c := echo.New().NewContext(r, httptest.NewRecorder())
	const start = "heapdrift push --url http://heapdrift:8080 --project "
	for _, tt := range []struct {
		target Target
		want   string
	}{
		{Target{}, `PROJECT --build BUILD "snap*.log"`},
		{Target{Project: "shop/x", Build: "4812-a_b.c", Scenario: "soak 60"}, `shop/x --build 4812-a_b.c --scenario "soak 60" "snap*.log"`},
		{Target{Project: `a"; rm -rf / #`, Build: "$(id)%PATH%`x`!"}, `"a_; rm -rf / #" --build "_(id)_PATH__x__" "snap*.log"`},
		{Target{Project: "Größe", Build: "1\n2"}, `"Größe" --build "1_2" "snap*.log"`},
	} {
		if got := tt.target.PushCommand(c); got != start+tt.want {
			t.Errorf("%s\nwant\n%s%s", got, start, tt.want)
		}
	}
}
