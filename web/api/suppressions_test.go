package api_test

import (
	"strings"
	"testing"
)

// A file of any of the three forms becomes rules; the known leaks go out as any of them.
func TestSuppressions(t *testing.T) {
	n := shopHistory(t)
	const path = "/api/v1/projects/shop/suppressions?form="
	n.do("PATCH", at(sigLeak), strings.NewReader(`{"state":"known","reason":"vendor"}`), "X-Heapdrift-Actor", "Ada").want(t, 200, "")
	for form, want := range map[string]string{
		"lsan": "leak:Leak\n", "valgrind": "   fun:_Z4Leak*\n", "drmemory": "shop.*!Leak\n",
	} {
		a := n.do("GET", path+form, nil).want(t, 200, "")
		text := string(a.body)
		if !strings.HasPrefix(text, "# 1 known leak of project shop, for ") || !strings.Contains(text, want) ||
			!strings.Contains(text, "# known: vendor\n") || strings.Contains(text, "Other") {
			t.Errorf("%s: %s", form, text)
		}
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") ||
			a.Header.Get("Content-Disposition") != "attachment; filename=shop-"+form+".supp" {
			t.Errorf("%s: %v", form, a.Header)
		}
		type imported struct {
			Lines    []string
			Rejected []struct{ Line int }
		}
		i := decode[imported](t, n.do("POST", "/api/v1/projects/shop/rules/import?kind=suppressions", strings.NewReader(text)).want(t, 200, ""))
		if len(i.Lines) == 0 || len(i.Rejected) != 0 {
			t.Errorf("%s: %+v", form, i)
		}
	}
	n.do("GET", path+"x", nil).want(t, 422, "invalid-form")
	n.do("GET", "/api/v1/projects/shop/suppressions", nil).want(t, 422, "invalid-form")
	n.do("GET", "/api/v1/projects/nobody/suppressions?form=lsan", nil).want(t, 404, "not-found")
}
