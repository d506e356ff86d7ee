package upload_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/guard"
	"heapdrift/web/pages/pagestest"
)

// log is the shortest log that UMDH writes.
const log = "// UMDH: version 10.0: Logtime 2025-03-06 09:00 - Machine=M - PID=1\r\n*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\r\n" +
	"10 bytes + 8 at 3F1000 by BackTrace7\r\n\t401000\r\n*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\r\n"

// postForm sends the form of the upload page as a browser without scripts does.
func postForm(s *pagestest.Server, parts ...pagestest.FormPart) (int, string) {
	return s.PostTo("/upload", parts...)
}

func TestUploadPage(t *testing.T) {
	s := pagestest.Open(t)
	page := s.Page("/upload?project=my+app&build=7%2Brc&scenario=soak&run=2&branch=main&sequence=9")
	pagestest.Has(t, page, `enctype="multipart/form-data"`, `name="project" value="my app"`, `name="build" value="7+rc"`,
		`name="scenario" value="soak"`, `name="run" value="2"`,
		`<details class="form-more" open`, `name="branch" value="main"`, `name="sequence" value="9"`,
		`type="file" id="file" name="file" multiple`, // the fields before the files
		"/api/v1/evidence?project=my+app&amp;build=7%2Brc&amp;branch=main&amp;run=2&amp;scenario=soak&amp;sequence=9&amp;name=snap1.log", "gflags /i APP.exe +ust")
	pagestest.Has(t, page, `href="/upload?branch=main`)
	pagestest.Has(t, page, "/static/vendor/tus.min.", "/static/upload.")
	pagestest.Has(t, s.Page("/upload"), `name="project" value=""`, "project=PROJECT&amp;build=BUILD")
}

// The page has a line for each shell that fetches the program from this server, and the command to push with it.
func TestUploadPageGivesTheProgram(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"VERSION": "1.2.3", "windows-amd64/heapdrift.exe": "a program"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := pagestest.OpenWithDownloads(t, guard.Everybody, dir)
	pagestest.Has(t, s.Page("/upload?project=shop&build=7"), "heapdrift push --url "+s.URL+" --project shop --build 7", `href="/download"`,
		"Windows, PowerShell", "Invoke-WebRequest -UseBasicParsing "+s.URL+"/download/windows-amd64/heapdrift.exe",
		"Windows, cmd", "curl -fSO "+s.URL+"/download/windows-amd64/heapdrift.exe")
}

func TestFormUploadsFiles(t *testing.T) {
	s := pagestest.Open(t)
	fields := []pagestest.FormPart{{Field: "project", File: "", Content: "app"}, {Field: "build", File: "", Content: "7"},
		{Field: "scenario", File: "", Content: ""}, {Field: "run", File: "", Content: ""},
		{Field: "branch", File: "", Content: "main"}, {Field: "sequence", File: "", Content: "12"}}
	status, location := postForm(s, append(fields, pagestest.FormPart{Field: "file", File: "a.log", Content: log},
		pagestest.FormPart{Field: "file", File: `C:\logs\b.log`, Content: log + "//"})...)
	if status != http.StatusSeeOther || location != "/runs/1" {
		t.Fatalf("%d to %s", status, location)
	}
	page := s.Page("/runs/1")
	pagestest.Has(t, page, "Reading the evidence: 0 of 2 files done", "a.log", "b.log", "waiting for a worker", "Report",
		"waits for the evidence")
	pagestest.Has(t, page, `<noscript><meta http-equiv="refresh" content="3">`, `sse-connect="/runs/1/events"`)
	run := pagestest.Must[store.Run](t)(storetest.Now(t, s.Store).FindRun(t.Context(), 1))
	builds := pagestest.Must[*store.BuildPage](t)(storetest.Now(t, s.Store).ListBuilds(t.Context(),
		store.BuildQuery{Project: "app", Limit: 9})).Builds
	if run.Scenario != "default" || run.Branch != "main" || *builds[0].Sequence != 12 {
		t.Errorf("run %+v of build %+v", run, builds[0])
	}
}

func TestFormSaysWhatIsWrong(t *testing.T) {
	s := pagestest.Open(t)
	app, build := pagestest.FormPart{Field: "project", File: "", Content: "app"}, pagestest.FormPart{Field: "build",
		File: "", Content: "7"}
	jpeg := pagestest.FormPart{Field: "file", File: "photo.jpg", Content: "\xff\xd8\xff\xe0 not a log"}
	for name, test := range map[string]struct {
		parts []pagestest.FormPart
		says  []string
	}{
		"no project": {[]pagestest.FormPart{build, {Field: "file", File: "a.log", Content: log}},
			[]string{`id="h-project" class="error"`, "is missing"}},
		"bad build": {[]pagestest.FormPart{app, {Field: "build", File: "", Content: "<x>"},
			{Field: "file", File: "a.log", Content: log}},
			[]string{`value="&lt;x&gt;"`, `aria-invalid="true"`, "is not a name"}},
		"bad sequence": {[]pagestest.FormPart{app, build, {Field: "sequence", File: "", Content: "first"},
			{Field: "file", File: "a.log", Content: log}},
			[]string{"<details class=\"form-more\" open", "is not a whole number"}},
		"no file": {[]pagestest.FormPart{app, build, {Field: "file", File: "", Content: ""}},
			[]string{"choose at least one file"}},
		"a picture": {[]pagestest.FormPart{app, build, jpeg},
			[]string{"photo.jpg", "rejected", "unknown-format", "this is a JPEG picture", "some files were rejected"}},
		"an empty file": {[]pagestest.FormPart{app, build, {Field: "file", File: "a.log", Content: ""}},
			[]string{"a.log", "rejected", "empty-file"}},
		"long field": {[]pagestest.FormPart{{Field: "project", File: "", Content: strings.Repeat("x", 1<<20)}, build,
			{Field: "file", File: "a.log", Content: log}},
			[]string{"is not a name"}},
		"fields at last": {[]pagestest.FormPart{{Field: "file", File: "a.log", Content: log}, app, build},
			[]string{"is missing"}},
	} {
		status, page := postForm(s, test.parts...)
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		}
		pagestest.Has(t, page, test.says...)
	}
	if list := pagestest.Must[[]store.Project](t)(storetest.Now(t, s.Store).ListProjects(t.Context(),
		storetest.Anybody)); len(list) != 0 {
		t.Errorf("refused forms left %+v", list)
	}
	_, page := postForm(s, app, build, pagestest.FormPart{Field: "file", File: "a.log", Content: log}, jpeg)
	pagestest.Has(t, page, "a.log", "uploaded", "photo.jpg", "rejected", `href="/runs/1"`)
	req := pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/upload",
		strings.NewReader("x")))
	if status, page := s.Send(req); status != http.StatusUnsupportedMediaType {
		t.Errorf("no form: %d %s", status, page)
	}
}

// The page asks the server what a file is before it sends the file. The answer has the words of the intake.
func TestInspectStart(t *testing.T) {
	s := pagestest.Open(t)
	ask := func(name, head string) (int, string) {
		return s.Send(pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+
			"/upload/glance?name="+name, strings.NewReader(head))))
	}
	for name, test := range map[string]struct{ head, want string }{
		"snap1.log": {log, `{"name":"a UMDH log"}`},
		"a.zip":     {"PK\x03\x04", `{"packed":"a zip archive"}`},
		"photo.jpg": {"\xff\xd8\xff\xe0",
			`{"code":"unknown-format","message":"this is a JPEG picture, not evidence; upload the log that umdh -f wrote, the .etl file that xperf or wpr wrote, or a full dump"}`},
		"app.pdb": {"Microsoft C/C++ MSF 7.00",
			`{"code":"unsupported-format","message":"this is a PDB, not evidence; upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"}`},
		"empty.log": {"",
			`{"code":"empty-file","message":"the file is empty; check that the tool that made it ran to its end"}`},
	} {
		if status, body := ask(name, test.head); status != http.StatusOK || strings.TrimSpace(body) != test.want {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, body := ask("a.log", strings.Repeat("x", 64<<10+1)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("more than the beginning: %d %s", status, body)
	}
	if status, body := ask("", log); status != http.StatusUnprocessableEntity {
		t.Errorf("no name: %d %s", status, body)
	}
}
