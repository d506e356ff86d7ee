package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/etl/etltest"
	"heapdrift/internal/testwine"
)

// put writes a file below the folder.
func (w *windowsClient) put(path string, content []byte) {
	w.Helper()
	path = filepath.Join(w.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		w.Fatal(err)
	}
}

// A setServer answers what commands of the group "set" ask, and keeps the last request.
type setServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked string
}

func newSetServer(t *testing.T) *setServer {
	t.Helper()
	s := &setServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = r.URL.EscapedPath() + " " + string(body)
		_, _ = io.WriteString(w, `{"name":"b2","sequence":14,"branch":"main","default_branch":"main","commit":"","fork":"b1","runs":[]}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// took is the last request.
func (s *setServer) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// commandsOnWindows calls the commands that need no server of their own.
func commandsOnWindows(t *testing.T, w *windowsClient) {
	pdb, dll := symbolFiles(t)
	w.put("Символы/app.pdb", pdb)
	w.put("Символы/app.dll", dll)
	kernel, heap := etltest.Invent(3, etltest.ScenarioSize{Steps: 60}).Pair(etltest.Format{BufferSize: 0x4000})
	w.put("a trace/kernel.etl", kernel)
	w.put("a trace/heap.etl", heap)
	w.put("bekannte Lücken/known.supp", []byte(strings.ReplaceAll(someSuppressions, "\n", "\r\n")))
	project := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "leak:Cache::Put\n") // a client that is away fails the test itself
	}))
	t.Cleanup(project.Close)
	leaks := newFakeLeaks(t)
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"lookup", []string{"symbols", "lookup", `Символы\app.pdb`, exportedRVA()}, exitOK, ".cpp"},
		{"lookup in no file", []string{"symbols", "lookup", `Символы\absent.pdb`, "0x1000"}, exitInput, `Символы\absent.pdb`},
		{"undname", []string{"symbols", "undname", "--complete", "?f@@YAHXZ"}, exitOK, "int __cdecl f(void)"},
		{"census", []string{"etl", "census", `a trace\*.etl`}, exitOK, "group 0x10 Heap        op 33 v2 Alloc"},
		{"list", leaks.args("list"), exitOK, "shop!Cart::Add (src/cart.cpp:118)"},
		{"accept", leaks.args("accept", cartLeak, "--reason", `see C:\notes.txt, "büro"`), exitOK, "known"},
		{"assign", leaks.args("assign", cartLeak, "--to", "jürgen"), exitOK, "jürgen"},
		{"leaks of nobody", leaks.args("list --state odd"), exitUsage, "said by the server"},
		{"suppressions", []string{"suppressions", "import", "--dry-run", `bekannte Lücken\known.supp`}, exitOK,
			`known="suppressed for LeakSanitizer: Cache::Add"`},
		{"suppressions of a project", []string{"suppressions", "export", "--form", "lsan", "--url", project.URL, "--project", "my shop",
			"-o", `bekannte Lücken\out.supp`}, exitOK, ""},
		{"kit", []string{"kit", "--project", "my shop", "--image", "app.exe", "--evidence", "umdh", "--url", "http://heapdrift:8080",
			"-o", `Скрипты für 日本`}, exitOK, `Скрипты für 日本\3-clean-up.cmd`},
		{"licences", []string{"licenses"}, exitOK, "BSD"},
		{"variables", []string{"help", "env"}, exitOK, "HEAPDRIFT_TOKEN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &windowsClient{t, w.wine, w.program, w.dir}
			out, errs, code := w.run(test.args...)
			if code != test.code || !strings.Contains(out+errs, test.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, test.code, test.says, out, errs)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, "bekannte Lücken", "out.supp")); string(text) != "leak:Cache::Put\n" {
		t.Errorf("suppressions export wrote %q, %v", text, err)
	}
	server := newSetServer(t)
	target := []string{"--url", server.URL, "--project", "my shop"}
	for command, want := range map[string]string{
		"builds set rc/2 --branch main":      `/api/v1/projects/my%20shop/builds/rc%2F2 {"branch":"main"}`,
		"projects set --default-branch main": `/api/v1/projects/my%20shop {"default_branch":"main"}`,
	} {
		args := strings.Fields(command)
		args = append(args[:2:2], append(target, args[2:]...)...)
		if out, errs, code := w.run(args...); code != exitOK || server.took() != want {
			t.Errorf("%s: exit code %d, asked %s\n%s%s", command, code, server.took(), out, errs)
		}
	}
}

// symbolsFromWindows sends a folder with symbol files to a server, in which a run then finds them.
func symbolsFromWindows(t *testing.T, w *windowsClient, server string) {
	pdb, dll := symbolFiles(t)
	w.put("out/x64/app.pdb", pdb)
	w.put("out/x64/app.dll", dll)
	out, errs, code := w.cmd(`heapdrift.exe symbols add --url ` + server + ` out`)
	if code != exitOK || !strings.Contains(out, `out\x64\app.pdb`) || !strings.Contains(out, "2 added, 0 known, 0 refused, 0 failed") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

// A brokenLine passes requests on to a server, but breaks the first piece of an upload after some bytes.
type brokenLine struct {
	*httptest.Server
	mu      sync.Mutex
	after   int64    // bytes; 0 breaks no more
	offsets []string // at which pieces began
}

func newBrokenLine(t *testing.T, server string, after int64) *brokenLine {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	line := &brokenLine{after: after}
	proxy := httputil.NewSingleHostReverseProxy(to)
	line.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			line.mu.Lock()
			line.offsets = append(line.offsets, r.Header.Get("Upload-Offset"))
			after := line.after
			line.after = 0
			line.mu.Unlock()
			if after > 0 {
				r.Body = io.NopCloser(io.LimitReader(r.Body, after))
				r.ContentLength = after
				proxy.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(line.Close)
	return line
}

// resumeFromWindows pushes a file over a connection that breaks: the client goes on where the server stands. Lists of
// commits with line ends of Windows are lists of commits.
func resumeFromWindows(t *testing.T, w *windowsClient, server string) {
	const size, cut = 3 << 20, 1 << 20
	line := newBrokenLine(t, server, cut)
	w.write("large/snap1.txt", 16)
	path := filepath.Join(w.dir, "large", "snap1.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.put("large/snap1.txt", append(text, strings.Repeat("\r\n", (size-len(text))/2)...))
	w.put("ancestors.txt", []byte("c2\r\nc1\r\n"))
	out, errs, code := w.cmd(`heapdrift.exe push --url ` + line.URL +
		` --project shop --build 7 --commit c3 --ancestors ancestors.txt large\snap1.txt`)
	if code != exitInconclusive || !strings.Contains(out, "/runs/") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	line.mu.Lock()
	defer line.mu.Unlock()
	if len(line.offsets) < 2 || line.offsets[0] != "0" || line.offsets[1] != strconv.Itoa(cut) {
		t.Errorf("pieces begin at %q, want the second at %d\n%s", line.offsets, cut, errs)
	}
}

// interruptOnWindows presses Ctrl C while a push waits for a server that does not answer: the push says that it was
// interrupted, and ends with 3.
func interruptOnWindows(t *testing.T, w *windowsClient) {
	asked := make(chan struct{})
	var once sync.Once
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client has gone
		once.Do(func() { close(asked) })
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	cmd := w.wine.InConsole(t, w.dir, w.program, "push", "--url", silent.URL, "--project", "shop", "--build", "9",
		`my logs\snap1.txt`)
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		_, _ = keys.Write([]byte(testwine.CtrlC))
	}()
	out, errs, code := w.finish(cmd)
	if code != exitInput || !strings.Contains(testwine.Printed(out), "interrupted") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}
