package api_test

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

type buildAnswer struct {
	Name, Branch, Commit, Fork string
	Sequence                   *int64
	Runs                       []struct {
		ID                    int64
		Scenario, Name, State string
	}
}

// What an upload said of a build is corrected by a PATCH, and the build is found under its new name.
func TestBuildPatch(t *testing.T) {
	n := start(t)
	n.do("PUT", evidence("build", "rc/1 #2", "commit", "c1"), strings.NewReader(umdhLog(100))).want(t, 201, "")
	n.do("PUT", evidence("build", "101", "run", "2"), strings.NewReader(umdhLog(100))).want(t, 201, "")
	path := func(build string) string { return "/api/v1/projects/shop/builds/" + url.PathEscape(build) }
	b := decode[buildAnswer](t, n.do("GET", path("rc/1 #2"), nil).want(t, 200, ""))
	if b.Name != "rc/1 #2" || b.Commit != "c1" || b.Sequence != nil || len(b.Runs) != 1 || b.Runs[0].Scenario != "soak" ||
		b.Runs[0].Name != "1" || b.Runs[0].State != "processing" {
		t.Errorf("%+v", b)
	}
	patch := func(build, body string) answer {
		return n.do("PATCH", path(build), strings.NewReader(body), "X-Heapdrift-Actor", "Ada")
	}
	b = decode[buildAnswer](t, patch("rc/1 #2",
		`{"name":" rc2 ","branch":"main","commit":"c2","sequence":99,"fork":"101"}`).want(t, 200, ""))
	if b.Name != "rc2" || b.Branch != "main" || b.Commit != "c2" || b.Sequence == nil || *b.Sequence != 99 || b.Fork != "101" {
		t.Errorf("%+v", b)
	}
	n.do("GET", path("rc/1 #2"), nil).want(t, 404, "not-found")
	patch("rc2", `{"branch":""}`).want(t, 200, "")
	patch("rc2", `{"name":"101"}`).want(t, 422, "invalid-name")
	patch("rc2", `{"fork":"rc2"}`).want(t, 422, "invalid-fork")
	patch("rc2", `{}`).want(t, 422, "invalid-body")
	patch("rc2", `{"project":"x"}`).want(t, 422, "invalid-body")
	patch("rc2", `{"sequence":"x"}`).want(t, 422, "invalid-body")
	patch("none", `{"branch":"x"}`).want(t, 404, "not-found")
	trail := decode[struct {
		Audit []struct{ Actor, Action string }
	}](t, n.do("GET", "/api/v1/projects/shop/audit", nil).want(t, 200, ""))
	if len(trail.Audit) != 2 || trail.Audit[0].Action != "build" || trail.Audit[0].Actor != "Ada" {
		t.Errorf("%+v", trail)
	}
}

// A project is made empty, renamed, and told which branch the others leave.
func TestProjects(t *testing.T) {
	n := start(t)
	type project struct {
		Name   string
		Branch string `json:"default_branch"`
	}
	made := n.do("POST", "/api/v1/projects", strings.NewReader(`{"name":" my shop ","default_branch":"trunk"}`)).want(t, 201, "")
	if p := decode[project](t, made); p != (project{"my shop", "trunk"}) ||
		made.Header.Get("Location") != "/api/v1/projects/my%20shop" {
		t.Errorf("%+v %v", p, made.Header)
	}
	n.do("POST", "/api/v1/projects", strings.NewReader(`{"name":"shop"}`)).want(t, 201, "")
	n.do("POST", "/api/v1/projects", strings.NewReader(`{"name":"shop"}`)).want(t, 422, "invalid-name")
	n.do("POST", "/api/v1/projects", strings.NewReader(`{"name":"a/b"}`)).want(t, 422, "invalid-name")
	n.do("POST", "/api/v1/projects", strings.NewReader(`{"name":"x","default_branch":"?"}`)).want(t, 422, "invalid-default-branch")
	n.do("GET", "/api/v1/projects/x", nil).want(t, 404, "not-found")
	patch := func(project, body string) answer {
		return n.do("PATCH", "/api/v1/projects/"+url.PathEscape(project), strings.NewReader(body))
	}
	p := decode[project](t, patch("my shop", `{"name":"store","default_branch":""}`).want(t, 200, ""))
	if p != (project{"store", ""}) {
		t.Errorf("%+v", p)
	}
	patch("my shop", `{"name":"x"}`).want(t, 404, "not-found")
	patch("store", `{"name":"shop"}`).want(t, 422, "invalid-name")
	patch("store", `{}`).want(t, 422, "invalid-body")
	if p = decode[project](t, n.do("GET", "/api/v1/projects/store", nil).want(t, 200, "")); p != (project{"store", ""}) {
		t.Errorf("%+v", p)
	}
}

// The symbol files of a build are those that the server has; others are told back.
func TestBuildSymbols(t *testing.T) {
	n := start(t)
	n.do("PUT", evidence(), strings.NewReader(umdhLog(100))).want(t, 201, "")
	const path = "/api/v1/projects/shop/builds/100/symbols"
	type bound struct {
		Missing []struct{ Name, Key string }
		Runs    int
	}
	post := func(path, body string) answer {
		return n.do("POST", path, strings.NewReader(body), "Content-Type", "application/json")
	}
	file := `{"name":"app.pdb","key":"00FF1"}`
	got := decode[bound](t, post(path, `{"files":[`+file+`]}`).want(t, 200, ""))
	if len(got.Missing) != 1 || got.Missing[0].Name != "app.pdb" || got.Missing[0].Key != "00FF1" || got.Runs != 0 {
		t.Errorf("%+v", got)
	}
	post(path, `{"files":[]}`).want(t, 200, "")
	post("/api/v1/projects/shop/builds/1/symbols", `{"files":[`+file+`]}`).want(t, 404, "not-found")
	post("/api/v1/projects/none/builds/100/symbols", `{"files":[`+file+`]}`).want(t, 404, "not-found")
	post(path, `{"files":[{"name":"app.pdb","key":""}]}`).want(t, 422, "invalid-files")
	post(path, `{"files":[{"name":"a\nb","key":"1"}]}`).want(t, 422, "invalid-files")
	for n, status := range map[int]int{499: 200, 500: 200, 501: 422} {
		code := map[int]string{422: "invalid-files"}[status]
		post(path, `{"files":[`+strings.Repeat(file+",", n-1)+file+`]}`).want(t, status, code)
	}
	post(path, `{"file":[]}`).want(t, 422, "invalid-body")
}

// The commits behind a build come with the upload, or as a list by themselves.
func TestBuildAncestors(t *testing.T) {
	n := start(t)
	const path = "/api/v1/projects/shop/builds/100"
	type answered struct {
		Fork      string
		Ancestors int
	}
	n.do("PUT", evidence("fork", "99", "ancestors", "c2,c1"), strings.NewReader(umdhLog(100))).want(t, 201, "")
	if b := decode[answered](t, n.do("GET", path, nil).want(t, 200, "")); b != (answered{"99", 2}) {
		t.Errorf("%+v", b)
	}
	put := func(text string) answer {
		return n.do("PUT", path+"/ancestors", strings.NewReader(text), "Content-Type", "text/plain")
	}
	if b := decode[answered](t, put(strings.Repeat(strings.Repeat("a", 64)+"\r\n", 1000)).want(t, 200, "")); b.Ancestors != 1000 {
		t.Errorf("%+v", b)
	}
	put(strings.Repeat("c\n", 1001)).want(t, 422, "invalid-ancestors")
	put(strings.Repeat("a", 65)).want(t, 422, "invalid-ancestors")
	put(strings.Repeat("\n", 81921)).want(t, 413, "too-large")
	n.do("PUT", "/api/v1/projects/shop/builds/1/ancestors", strings.NewReader("c\n"), "Content-Type", "text/plain").want(t, 404, "not-found")
	n.do("PUT", evidence("fork", "100"), strings.NewReader(umdhLog(100))).want(t, 422, "invalid-fork")
	n.do("PUT", evidence("ancestors", "c 2"), strings.NewReader(umdhLog(100))).want(t, 422, "invalid-ancestors")
	if b := decode[answered](t, put("").want(t, 200, "")); b.Ancestors != 0 {
		t.Errorf("%+v", b)
	}
}

// The answer to an upload, and the run, warn of what is odd about the build.
func TestBuildWarnings(t *testing.T) {
	n := start(t)
	type warned struct {
		Run      int64
		Warnings []struct{ Code, Message string }
	}
	put := func(pairs ...string) warned {
		return decode[warned](t, n.do("PUT", evidence(pairs...), strings.NewReader(umdhLog(100))).want(t, 201, ""))
	}
	if w := put("build", "100", "branch", "main", "commit", "aaaaaaa"); len(w.Warnings) != 0 || w.Warnings == nil {
		t.Errorf("%+v", w)
	}
	w := put("build", "rc1", "sequence", "100")
	if len(w.Warnings) != 2 || w.Warnings[0].Code != "same-sequence" || w.Warnings[1].Code != "no-branch" ||
		!strings.HasPrefix(w.Warnings[0].Message, "Build 100 has sequence 100 too") {
		t.Errorf("%+v", w)
	}
	if run := decode[warned](t, n.do("GET", fmt.Sprint("/api/v1/runs/", w.Run), nil).want(t, 200, "")); !reflect.DeepEqual(
		run.Warnings, w.Warnings) {
		t.Errorf("%+v", run)
	}
	if w := put("build", "100", "commit", "bbbbbbb"); len(w.Warnings) != 2 || w.Warnings[0].Code != "commit-replaced" {
		t.Errorf("%+v", w)
	}
}
