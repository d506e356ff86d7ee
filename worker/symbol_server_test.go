package worker_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/symsrv"
	"heapdrift/worker/workertest"
)

// tillKey is the id of the PDB of workertest.Till.
const tillKey = "010000000000000000000000000000001"

// identified is workertest.TillLog, which names no PDB, with a banner that names one from a symbol store.
func identified(minute int) string {
	return strings.Replace(workertest.TillLog(minute), "enumerated.\n",
		"enumerated.\n7FF600000000-7FF600005FFF DBGHELP: till - private symbols & lines\n        c:\\sym\\till.pdb\\"+
			tillKey+"\\till.pdb\n", 1)
}

// A cloud is a symbol server and the store to which it redirects clients, by their host names.
type cloud struct {
	mu    sync.Mutex
	asked []string
	path  symbols.PathLibrary
}

// microsoft answers as Microsoft's server does: what is there lies at a signed address of another host.
func microsoft(t *testing.T, wait time.Duration, handle http.HandlerFunc) *cloud {
	t.Helper()
	c := &cloud{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked = append(c.asked, r.Host+r.URL.RequestURI())
		c.mu.Unlock()
		handle(rw, r)
	}))
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com" // the host that the test server's certificate is for
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(server.URL, "https://"))
	}
	path, err := symsrv.Parse("srv*https://msdl.microsoft.com/download/symbols", symsrv.Options{
		Allow: []string{"msdl.microsoft.com"}, Cache: t.TempDir(), Check: symbols.CheckFile,
		Client: &http.Client{Transport: transport}, Limits: symsrv.Limits{Wait: wait},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.path = symbols.PathLibrary{Path: path}
	return c
}

func (c *cloud) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.asked
	c.asked = nil
	return list
}

const tillStore = "vsblobprodscussu5shard7.blob.core.windows.net"

// A run's symbols come from a server that sends the worker to its cloud's store.
func TestSymbolsOfMicrosoftsServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	pdb, _ := workertest.Till(t)
	c := microsoft(t, time.Minute, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == tillStore && r.URL.Query().Get("sig") == "s/e+c=":
			_, _ = rw.Write(pdb)
		case r.Host == "msdl.microsoft.com" && r.URL.Path == "/download/symbols/till.pdb/"+tillKey+"/till.pdb":
			http.Redirect(rw, r, "https://"+tillStore+"/b-4712e0ed/AB12.blob?sv=2019-07-07&sr=b&si=1&sig=s%2Fe%2Bc%3D&spr=https",
				http.StatusFound)
		default:
			http.NotFound(rw, r)
		}
	})
	p := &pipeline{t, workertest.StartWith(t, c.path)}
	r := p.report(p.settled(p.upload("1.txt", identified(1))))
	m := r.Modules[0]
	if got := stack(r); got != `till!main main.cpp:10, till!main main.cpp:12` ||
		m.Symbols != capture.SymbolsPrivate || m.Own {
		t.Errorf("%s, %+v", got, m)
	}
	if text := strings.Join(triedOf(m), "\n"); strings.Contains(text, "sig") ||
		!strings.Contains(text, "https://msdl.microsoft.com/download/symbols/till.pdb/"+tillKey) {
		t.Errorf("tried %s", text)
	}
	if asked := c.questions(); len(asked) != 3 || !strings.HasPrefix(asked[2], tillStore+"/b-4712e0ed/") {
		t.Errorf("asked %q", asked)
	}
	// What the server gave is kept: the next run does not ask it.
	if got := stack(p.report(p.settled(p.upload("2.txt", identified(2))))); !strings.HasPrefix(got, "till!main") ||
		len(c.questions()) != 0 {
		t.Errorf("of the second file: %s, asked %q", got, c.asked)
	}
}

// A server that does not answer ends a run's wait, not the run; the report names what is missing.
func TestSymbolsOfASilentServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	c := microsoft(t, 100*time.Millisecond, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p := &pipeline{t, workertest.StartWith(t, c.path)}
	r := p.report(p.settled(p.upload("1.txt", identified(1))))
	if got := stack(r); got != "till+0x1035, till+0x1055" {
		t.Errorf("named %s", got)
	}
	var pending []string
	for _, w := range r.Warnings {
		if w.Code == capture.SymbolsPending {
			pending = append(pending, w.Message)
		}
	}
	if len(pending) != 1 || !strings.Contains(pending[0], "msdl.microsoft.com") ||
		!strings.Contains(pending[0], "till.pdb "+tillKey) || !strings.Contains(pending[0], "HEAPDRIFT_SYMBOL_WAIT") {
		t.Errorf("warnings %+v", r.Warnings)
	}
	if match := r.Modules[0].Match; !strings.Contains(match, "; but https://msdl.microsoft.com/") {
		t.Errorf("match %q", match)
	}
}

func triedOf(m analysis.Module) (list []string) {
	for _, a := range m.Tried {
		list = append(list, a.Place+" "+a.Result+" "+a.Detail)
	}
	return list
}
