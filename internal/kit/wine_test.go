package kit_test

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/kit"
	"heapdrift/internal/testwine"
)

//go:embed testdata/tool.c
var tool string

const ifeo = `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\app.exe`

// A machine is a Windows with stand-ins for the tools.
type machine struct {
	*testing.T
	wine *testwine.Wine
	dir  string // of the kit
	log  string
	env  []string
}

// tools are those that scripts find in their own folder, and those of the debuggers by bitness.
var tools = []string{"fltmc", "tasklist", "timeout", "curl", "wpr", "xperf", "PerfView", "procdump", "debuggers/x64/gflags",
	"debuggers/x64/umdh", "debuggers/x86/umdh"}

func newMachine(t *testing.T, wine *testwine.Wine, program []byte, evidence string) *machine {
	t.Helper()
	m := &machine{T: t, wine: wine, dir: filepath.Join(t.TempDir(), "kit of shop"), log: filepath.Join(t.TempDir(), "log")}
	files, err := kit.Write(kit.Order{Project: "shop", Scenario: "soak 60", Image: "app.exe", Evidence: evidence,
		Server: "http://heapdrift:8080/", Snapshots: 2})
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, text []byte) {
		path := filepath.Join(m.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		put(f.Name, []byte(f.Text))
	}
	for _, name := range tools {
		put(name+".exe", program)
	}
	m.env = []string{"KIT_LOG=Z:" + strings.ReplaceAll(m.log, "/", `\`), "KIT_PIDS=4711", "SECONDS=1",
		"DEBUGGERS=Z:" + strings.ReplaceAll(filepath.Join(m.dir, "debuggers"), "/", `\`), "HEAPDRIFT_TOKEN=hd_secret"}
	return m
}

// run runs a file of the kit and returns what the tools were called with since, and what the file printed.
func (m *machine) run(line string, env ...string) (calls, printed string, code int) {
	m.Helper()
	if err := os.Remove(m.log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Fatal(err)
	}
	cmd := m.wine.Command(m.Context(), m.dir, "cmd", append([]string{"/c"}, strings.Fields(line)...)...)
	cmd.Env = slices.Concat(cmd.Env, m.env, env)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.Fatal(err)
	}
	log, err := os.ReadFile(m.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Fatal(err)
	}
	var lines []string
	for call := range strings.Lines(strings.ReplaceAll(string(log), "\r", "")) {
		if name, _, _ := strings.Cut(strings.TrimSpace(call), " "); name != "fltmc" && name != "tasklist" && name != "timeout" {
			lines = append(lines, strings.TrimSpace(call))
		}
	}
	return strings.Join(lines, "\n"), string(out), cmd.ProcessState.ExitCode()
}

// settings are those of the image, "" for none.
func (m *machine) settings() string {
	out, _ := m.wine.Command(m.Context(), m.dir, "reg", "query", ifeo).Output() // 1 where there is no key
	var values []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 3 {
			values = append(values, words[0]+"="+words[2])
		}
	}
	return strings.Join(values, " ")
}

func (m *machine) reg(args ...string) {
	m.Helper()
	if out, err := m.wine.Command(m.Context(), m.dir, "reg", args...).CombinedOutput(); err != nil {
		m.Fatalf("reg %q: %v\n%s", args, err, out)
	}
}

// Each kit calls the tools in the right order with the right arguments, and its clean-up restores what was there.
func TestKitsUnderWine(t *testing.T) {
	if testing.Short() {
		t.Skip("sets Wine up")
	}
	wine := testwine.Start(t)
	path := filepath.Join(t.TempDir(), "tool.exe")
	testwine.Compile(t, tool, path, "-ladvapi32")
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for evidence, want := range map[string]struct{ enable, capture, cleanUp, upload string }{
		"umdh": {"gflags /i app.exe +ust /tracedb 512", "umdh -p:4711 -f:umdh-01.txt\numdh -p:4711 -f:umdh-02.txt", "",
			"umdh-01.txt umdh-02.txt"},
		"procdump": {"gflags /i app.exe +ust /tracedb 512",
			"procdump -accepteula -ma 4711 dump-01.dmp\nprocdump -accepteula -ma 4711 dump-02.dmp", "", "dump-01.dmp dump-02.dmp"},
		"wpr": {"wpr -HeapTracingConfig app.exe enable", "wpr -start VirtualAllocation -start Heap -filemode\nwpr -stop trace.etl",
			"wpr -cancel\nwpr -HeapTracingConfig app.exe disable", "trace.etl"},
		"wpr-virtual": {"", "wpr -start VirtualAllocation -filemode\nwpr -stop trace.etl", "wpr -cancel", "trace.etl"},
		"xperf": {"", "xperf -on PROC_THREAD+LOADER+VIRT_ALLOC -stackwalk VirtualAlloc+VirtualFree\n" +
			"xperf -start heapsession -heap -pids 4711 -stackwalk HeapAlloc+HeapRealloc -buffersize 1024 -minbuffers 256 -maxbuffers 1024\n" +
			"xperf -stop heapsession -d heap.etl\nxperf -d kernel.etl\nxperf -merge heap.etl kernel.etl trace.etl",
			"xperf -stop heapsession\nxperf -stop", "trace.etl"},
		"perfview": {"", "PerfView /NoGui /AcceptEula /BufferSizeMB:1024 /OSHeapProcess:4711 /MaxCollectSec:1 /DataFile:trace.etl collect",
			"", "trace.etl"},
		"debugdiag": {"", "", "", ""},
	} {
		t.Run(evidence, func(t *testing.T) {
			m := newMachine(t, wine, program, evidence)
			for _, step := range []struct{ line, want string }{{"1-enable.cmd", want.enable}, {"2-capture.cmd", want.capture},
				{"3-clean-up.cmd", want.cleanUp}} {
				calls, printed, code := m.run(step.line)
				if calls != step.want || code != 0 {
					t.Errorf("%s: exit code %d, calls\n%s\nwant\n%s\nprinted\n%s", step.line, code, calls, step.want, printed)
				}
			}
			if left := m.settings(); left != "" {
				t.Errorf("settings left: %s", left)
			}
			m.checkUpload(want.upload)
			m.checkSidecar(evidence)
		})
	}
	t.Run("settings", func(t *testing.T) { settingsAreRestored(newMachine(t, wine, program, "umdh")) })
	t.Run("mistakes", func(t *testing.T) { mistakes(newMachine(t, wine, program, "umdh")) })
}

// checkUpload has the files sent, with the token in a file that is gone afterwards.
func (m *machine) checkUpload(names string) {
	m.Helper()
	calls, printed, code := m.run("4-upload.cmd 4812")
	if names == "" {
		if code != 2 || calls != "" {
			m.Errorf("nothing to upload: exit code %d\n%s\n%s", code, calls, printed)
		}
		return
	}
	var sent []string
	for line := range strings.SplitSeq(calls, "\n") {
		switch {
		case line == `curl reads header = "Authorization: Bearer hd_secret"`:
		case strings.Contains(line, "hd_secret"):
			m.Errorf("the token is on the command line: %s", line)
		case strings.Contains(line, "-X POST") && strings.HasSuffix(line, "http://heapdrift:8080/api/v1/runs/7/complete"):
			sent = append(sent, "complete")
		default:
			_, name, _ := strings.Cut(line, "http://heapdrift:8080/api/v1/evidence?project=shop&scenario=soak%2060&build=4812&name=")
			sent = append(sent, name)
		}
	}
	if got := strings.Join(sent, " "); code != 0 || got != names+" complete" ||
		!strings.Contains(printed, "http://heapdrift:8080/runs/7") {
		m.Errorf("upload: exit code %d, sent %q, want %q\n%s\n%s", code, got, names, calls, printed)
	}
	left, err := filepath.Glob(filepath.Join(m.wine.Drive(), "users", "*", "Temp", "heapdrift-*.cfg"))
	if err != nil || len(left) > 0 {
		m.Errorf("files with the token left: %v %v", left, err)
	}
}

func (m *machine) checkSidecar(evidence string) {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, "sidecar.json"))
	if err != nil {
		m.Fatal(err)
	}
	pid := `"pid":4711,"bits":64`
	if strings.HasPrefix(evidence, "wpr") {
		pid = `"pid":0,"bits":0`
	}
	for _, want := range []string{`"project":"shop"`, `"scenario":"soak 60"`, `"evidence":"` + evidence + `"`, pid, `"os":"Microsoft`} {
		if !strings.Contains(string(text), want) {
			m.Errorf("sidecar.json has no %s: %s", want, text)
		}
	}
}

// Settings that were there before are there again, whatever they were; a second run of the first file does not lose them.
func settingsAreRestored(m *machine) {
	m.reg("add", ifeo, "/v", "GlobalFlag", "/t", "REG_DWORD", "/d", "2", "/f")
	m.reg("add", ifeo, "/v", "Debugger", "/t", "REG_SZ", "/d", "x.exe", "/f")
	before := m.settings()
	for range 2 {
		if _, printed, code := m.run("1-enable.cmd"); code != 0 {
			m.Errorf("exit code %d\n%s", code, printed)
		}
	}
	if now := m.settings(); now == before || !strings.Contains(now, "GlobalFlag=0x1000") {
		m.Errorf("enabled: %s", now)
	}
	for range 2 { // the second finds nothing to do
		if _, printed, code := m.run("3-clean-up.cmd"); code != 0 {
			m.Errorf("exit code %d\n%s", code, printed)
		}
	}
	if now := m.settings(); now != before {
		m.Errorf("restored %q, was %q", now, before)
	}
	m.reg("delete", ifeo, "/f")
}

// Mistakes end with their code before anything is changed or recorded.
func mistakes(m *machine) {
	for _, tt := range []struct {
		line, env string
		code      int
		says      string
		calls     string
	}{
		{"1-enable.cmd", "KIT_FAIL=fltmc", 5, "administrator", ""},
		{"1-enable.cmd", "KIT_FAIL=gflags", 5, "could not turn on", "gflags /i app.exe +ust /tracedb 512"},
		{"1-enable.cmd", "DEBUGGERS=Z:\\none", 3, "gflags is not below", ""},
		{"2-capture.cmd", "KIT_PIDS=", 2, "does not run", ""},
		{"2-capture.cmd", "KIT_PIDS=4711 4712", 2, "Several processes", ""},
		{"2-capture.cmd 4712", "KIT_PIDS=4711 4712", 0, "3-clean-up.cmd",
			"umdh -p:4712 -f:umdh-01.txt\numdh -p:4712 -f:umdh-02.txt"},
		{"2-capture.cmd", "KIT_WOW=1", 0, "3-clean-up.cmd",
			"x86/umdh -p:4711 -f:umdh-01.txt\nx86/umdh -p:4711 -f:umdh-02.txt"},
		{"2-capture.cmd", "KIT_FAIL=umdh", 3, "UMDH failed at snapshot 1", "umdh -p:4711 -f:umdh-01.txt"},
		{"4-upload.cmd", "KIT_WOW=0", 2, "Give the build", ""},
		{"4-upload.cmd a/b", "KIT_WOW=0", 2, "letters, digits", ""},
	} {
		calls, printed, code := m.run(tt.line, tt.env)
		if code != tt.code || !strings.Contains(printed, tt.says) || calls != tt.calls {
			m.Errorf("%s with %s: exit code %d, want %d and %q; calls %q, want %q\n%s", tt.line, tt.env, code, tt.code, tt.says,
				calls, tt.calls, printed)
		}
	}
}
