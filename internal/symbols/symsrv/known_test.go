package symsrv_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

// names is a client to which every host of the internet is the one server w, by https.
func names(w *httptest.Server) *http.Client {
	transport := w.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com" // whom the server's certificate is for
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(w.URL, "https://"))
	}
	return &http.Client{Transport: transport}
}

// TestRedirectToStore: known servers may redirect to the stores that hold their files, and no other server may.
func TestRedirectToStore(t *testing.T) {
	for _, c := range []struct {
		server, to string
		found      bool
	}{
		{"msdl.microsoft.com", "https://vsblobprodscussu5shard7.blob.core.windows.net/b-123/AB.blob", true},
		{"MSDL.microsoft.com", "https://VSBLOB.blob.core.windows.net/x", true},
		{"symbols.mozilla.org", "https://storage.googleapis.com/moz/app.pdb", true},
		{"chromium-browser-symsrv.commondatastorage.googleapis.com", "https://storage.googleapis.com/chromium/app.pdb", true},
		{"symbols.nuget.org", "https://nuget.blob.core.windows.net/app.pdb", true},
		{"acme.artifacts.visualstudio.com", "https://acme.vsblob.vsassets.io/app.pdb", true},
		{"symbols.example", "https://vsblob.blob.core.windows.net/x", false},                   // no known server
		{"msdl.microsoft.com", "http://vsblob.blob.core.windows.net/x", false},                 // in the clear
		{"msdl.microsoft.com", "https://vsblob.blob.core.windows.net:8443/x", false},           // another port
		{"msdl.microsoft.com", "https://blob.core.windows.net.example/x", false},               // another's domain
		{"msdl.microsoft.com", "https://storage.googleapis.com/x", false},                      // another's store
		{"msdl.microsoft.com.example", "https://vsblob.blob.core.windows.net/x", false},        // another's server
		{"storage.googleapis.com", "https://chromium-browser-symsrv.storage.example/x", false}, // no way back
	} {
		t.Run(c.server+" "+c.to, func(t *testing.T) {
			var asked []string
			server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Host+r.URL.RequestURI())
				switch {
				case !strings.EqualFold(r.Host, c.server):
					_, _ = rw.Write([]byte(right))
				case strings.HasSuffix(r.URL.Path, "/"+in+"app.pdb"):
					http.Redirect(rw, r, c.to+"?sv=2019-07-07&sr=b&sig=secret", http.StatusFound)
				default:
					http.NotFound(rw, r)
				}
			}))
			defer server.Close()
			opt := symsrv.Options{Allow: []string{c.server}, Cache: t.TempDir(), Check: check,
				Limits: quick, Client: names(server)}
			found, lines := find(t, parse(t, "srv*https://"+c.server+"/download/symbols", opt), app)
			if (found != "") != c.found {
				t.Fatalf("found %q: %q", found, lines)
			}
			text := strings.Join(lines, "\n")
			if strings.Contains(text, "secret") {
				t.Errorf("a signature is shown: %s", text)
			}
			if c.found {
				if !slices.ContainsFunc(asked, func(a string) bool { return strings.HasSuffix(a, "sig=secret") }) {
					t.Errorf("asked %q", asked)
				}
			} else if strings.HasPrefix(c.to, "https:") && !strings.Contains(text, "HEAPDRIFT_SYMBOL_SERVERS=") {
				t.Errorf("no way out is told: %s", text)
			}
		})
	}
}
