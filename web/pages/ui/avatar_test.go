package ui_test

import (
	"strings"
	"testing"

	"heapdrift/web/pages/ui"
)

func TestInitials(t *testing.T) {
	for name, want := range map[string]string{
		"Ada Kirsch": "AK", "ada": "AD", "Jan van der Berg": "JB", "team-sensors": "TS", "bo@shop.example": "BO",
		"bo.olsen@shop.example": "BO", "Zoë": "ZO", "x": "X", "@": "?", "…": "?", "7": "7",
	} {
		if got := ui.Initials(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestAvatar(t *testing.T) {
	draw := func(name string) string {
		var b strings.Builder
		if err := ui.Avatar(name).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := draw(`Ada "K"`); !strings.Contains(got, `title="Ada &#34;K&#34;" aria-label="Ada &#34;K&#34;">AK<`) ||
		!strings.Contains(got, `role="img"`) || strings.Contains(got, "none") {
		t.Error(got)
	}
	if got := draw(""); !strings.Contains(got, `class="av none"`) || !strings.Contains(got, `aria-label="no owner"`) {
		t.Error(got)
	}
	if got := draw("Ada"); !strings.Contains(got, `class="av av-4"`) { // the same for ever, so that people know it again
		t.Error(got)
	}
}
