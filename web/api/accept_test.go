package api_test

import (
	"testing"

	"heapdrift/web/api"
)

func TestPreferred(t *testing.T) {
	for _, test := range []struct {
		accept string
		want   int
	}{
		{"", 0}, {"*/*", 0}, {"text/html", 0}, {"application/json", 1}, {"application/json, text/html", 0},
		{"text/html;q=0.5, application/json", 1},
		{"text/*;q=0.1, application/json;q=0.2", 1}, {"text/*, text/html;q=0", -1}, {"text/html;q=nonsense, */*;q=0.1", 1},
		{"image/png", -1}, {";;;,", -1},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 0},
	} {
		if got := api.PreferredOffer(test.accept, "text/html", "application/json"); got != test.want {
			t.Errorf("%q chooses %d, want %d", test.accept, got, test.want)
		}
	}
}
