package symsrv_test

import (
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

// TestClosedAddresses asks servers whose names lead into this machine: they are asked only if the allow-list names the
// host itself.
func TestClosedAddresses(t *testing.T) {
	w := serve(t, map[string]string{in + "app.pdb": right}, nil)
	port := w.URL[strings.LastIndex(w.URL, ":"):]
	for _, c := range []struct {
		allow, host string
		found       bool
	}{
		{"localhost", "localhost", true},
		{"localhost" + port, "localhost", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"*", "localhost", false}, // by its name, which says nothing until it is resolved
		{"*", "127.0.0.1", false},
		{"*", "[::ffff:127.0.0.1]", false},
		{"*,localhost", "localhost", true},
	} {
		t.Run(c.allow+" "+c.host, func(t *testing.T) {
			opt := symsrv.Options{Allow: strings.Split(c.allow, ","), Cache: t.TempDir(), Check: check, Limits: quick}
			found, lines := find(t, parse(t, "srv*http://"+c.host+port, opt), app)
			asked := w.questions()
			if (found != "") != c.found || (len(asked) > 0) != c.found {
				t.Fatalf("found %q, asked %q: %q", found, asked, lines)
			}
			if text := strings.Join(lines, "\n"); !c.found &&
				(!strings.Contains(text, "\trefused\t") || !strings.Contains(text, "address of this machine") ||
					!strings.Contains(text, "HEAPDRIFT_SYMBOL_SERVERS=")) {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestRedirectIntoThisMachine has an allowed server send its clients to a name that leads into this machine.
func TestRedirectIntoThisMachine(t *testing.T) {
	far := serve(t, map[string]string{"secret": right}, nil)
	near := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, strings.Replace(far.URL, "127.0.0.1", "localhost", 1)+"/secret", http.StatusFound)
	})
	opt := online(t, near)
	opt.Allow = append(opt.Allow, "*")
	if found, lines := find(t, parse(t, "srv*"+near.URL, opt), app); found != "" || len(far.questions()) != 0 {
		t.Errorf("found %q: %q", found, lines)
	}
}
