package pages_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// log is the shortest log that UMDH writes.
const log = "// UMDH: version 10.0: Logtime 2025-03-06 09:00 - Machine=M - PID=1\r\n*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\r\n" +
	"10 bytes + 8 at 3F1000 by BackTrace7\r\n\t401000\r\n*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\r\n"

// A formPart is a field, or a file where it has a name.
type formPart struct{ field, file, content string }

// post sends the form of the upload page as a browser without scripts does.
func (s *site) post(parts ...formPart) (int, string) { return s.postTo("/upload", parts...) }

func (s *site) postTo(path string, parts ...formPart) (int, string) {
	s.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		if p.file == "" && p.field != "file" {
			_ = form.WriteField(p.field, p.content)
			continue
		}
		w, _ := form.CreateFormFile(p.field, p.file)
		_, _ = w.Write([]byte(p.content))
	}
	_ = form.Close()
	req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, &b))
	req.Header.Set("Content-Type", form.FormDataContentType())
	return s.send(req)
}

func TestUploadPage(t *testing.T) {
	s := open(t)
	page := s.page("/upload?project=my+app&build=7%2Brc&scenario=soak&run=2&branch=main&sequence=9")
	has(t, page, `enctype="multipart/form-data"`, `name="project" value="my app"`, `name="build" value="7+rc"`,
		`name="scenario" value="soak"`, `name="run" value="2"`,
		`<details class="form-more" open`, `name="branch" value="main"`, `name="sequence" value="9"`, `type="file" id="file" name="file" multiple`, // the fields before the files
		"/api/v1/evidence?project=my+app&amp;build=7%2Brc&amp;branch=main&amp;run=2&amp;scenario=soak&amp;sequence=9&amp;name=snap1.log", "gflags /i APP.exe +ust")
	has(t, page, `href="/upload?branch=main`)
	has(t, page, "/static/vendor/tus.min.", "/static/upload.")
	has(t, s.page("/upload"), `name="project" value=""`, "project=PROJECT&amp;build=BUILD")
}

func TestFormUploadsFiles(t *testing.T) {
	s := open(t)
	fields := []formPart{{"project", "", "app"}, {"build", "", "7"}, {"scenario", "", ""}, {"run", "", ""},
		{"branch", "", "main"}, {"sequence", "", "12"}}
	status, location := s.post(append(fields, formPart{"file", "a.log", log},
		formPart{"file", `C:\logs\b.log`, log + "//"})...)
	if status != http.StatusSeeOther || location != "/runs/1" {
		t.Fatalf("%d to %s", status, location)
	}
	page := s.page("/runs/1")
	has(t, page, "Reading the evidence: 0 of 2 files done", "a.log", "b.log", "waiting for a worker", "Report",
		"waits for the evidence")
	has(t, page, `<noscript><meta http-equiv="refresh" content="3">`, `sse-connect="/runs/1/events"`)
	run := must[store.Run](t)(storetest.Now(t, s.store).FindRun(t.Context(), 1))
	builds := must[*store.BuildPage](t)(storetest.Now(t, s.store).ListBuilds(t.Context(),
		store.BuildQuery{Project: "app", Limit: 9})).Builds
	if run.Scenario != "default" || run.Branch != "main" || *builds[0].Sequence != 12 {
		t.Errorf("run %+v of build %+v", run, builds[0])
	}
}

func TestFormSaysWhatIsWrong(t *testing.T) {
	s := open(t)
	app, build := formPart{"project", "", "app"}, formPart{"build", "", "7"}
	jpeg := formPart{"file", "photo.jpg", "\xff\xd8\xff\xe0 not a log"}
	for name, test := range map[string]struct {
		parts []formPart
		says  []string
	}{
		"no project": {[]formPart{build, {"file", "a.log", log}}, []string{`id="h-project" class="error"`, "is missing"}},
		"bad build": {[]formPart{app, {"build", "", "<x>"}, {"file", "a.log", log}},
			[]string{`value="&lt;x&gt;"`, `aria-invalid="true"`, "is not a name"}},
		"bad sequence": {[]formPart{app, build, {"sequence", "", "first"}, {"file", "a.log", log}},
			[]string{"<details class=\"form-more\" open", "is not a whole number"}},
		"no file": {[]formPart{app, build, {"file", "", ""}}, []string{"choose at least one file"}},
		"a picture": {[]formPart{app, build, jpeg},
			[]string{"photo.jpg", "rejected", "unknown-format", "this is a JPEG picture", "some files were rejected"}},
		"an empty file": {[]formPart{app, build, {"file", "a.log", ""}}, []string{"a.log", "rejected", "empty-file"}},
		"long field": {[]formPart{{"project", "", strings.Repeat("x", 1<<20)}, build, {"file", "a.log", log}},
			[]string{"is not a name"}},
		"fields at last": {[]formPart{{"file", "a.log", log}, app, build}, []string{"is missing"}},
	} {
		status, page := s.post(test.parts...)
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		}
		has(t, page, test.says...)
	}
	if list := must[[]store.Project](t)(storetest.Now(t, s.store).ListProjects(t.Context(),
		storetest.Anybody)); len(list) != 0 {
		t.Errorf("refused forms left %+v", list)
	}
	_, page := s.post(app, build, formPart{"file", "a.log", log}, jpeg)
	has(t, page, "a.log", "uploaded", "photo.jpg", "rejected", `href="/runs/1"`)
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/upload",
		strings.NewReader("x")))
	if status, page := s.send(req); status != http.StatusUnsupportedMediaType {
		t.Errorf("no form: %d %s", status, page)
	}
}

// The page asks the server what a file is before it sends the file. The answer has the words of the intake.
func TestInspectStart(t *testing.T) {
	s := open(t)
	ask := func(name, head string) (int, string) {
		return s.send(must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+
			"/upload/glance?name="+name, strings.NewReader(head))))
	}
	for name, test := range map[string]struct{ head, want string }{
		"snap1.log": {log, `{"name":"a UMDH log"}`},
		"a.zip":     {"PK\x03\x04", `{"packed":"a zip archive"}`},
		"photo.jpg": {"\xff\xd8\xff\xe0",
			`{"code":"unknown-format","message":"this is a JPEG picture, not evidence; upload the log that umdh -f wrote, the .etl file that xperf or wpr wrote, or a full dump"}`},
		"app.pdb": {"Microsoft C/C++ MSF 7.00",
			`{"code":"unsupported-format","message":"this is a PDB, not evidence; upload it as symbols: heapdrift symbols add, or PUT /api/v1/symbols"}`},
		"empty.log": {"", `{"code":"empty-file","message":"the file is empty; check that the tool that made it ran to its end"}`},
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
