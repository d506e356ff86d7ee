package pages

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// A target says where evidence belongs, as people type it.
type target struct{ project, build, scenario, run, branch, sequence, work, workUnit string }

// fields are the names that forms, addresses and the API use, with the value of each.
func (t *target) fields() map[string]*string {
	return map[string]*string{
		"project": &t.project, "build": &t.build, "scenario": &t.scenario, "run": &t.run, "branch": &t.branch, "sequence": &t.sequence,
		"work": &t.work, "work_unit": &t.workUnit,
	}
}

// targetOfQuery is what an address fills in.
func targetOfQuery(c echo.Context) target {
	var t target
	for name, value := range t.fields() {
		*value = printable(c.QueryParam(name))
	}
	return t
}

// targetOfRun is where more evidence for a run goes.
func targetOfRun(r store.Run) target {
	return target{project: r.Project, build: r.Build, scenario: r.Scenario, run: r.Name, branch: r.Branch}
}

// parse checks a target. Its error is a *store.TargetError.
func (t target) parse() (store.Target, error) {
	out := store.Target{Project: t.project, Build: t.build, Scenario: t.scenario, Run: t.run, Branch: strings.TrimSpace(t.branch), WorkUnit: t.workUnit}
	if text := strings.TrimSpace(t.sequence); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return out, &store.TargetError{Field: "sequence", Message: fmt.Sprintf("%q is not a whole number", text)}
		}
		out.Sequence = &n
	}
	if text := strings.TrimSpace(t.work); text != "" {
		work, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return out, &store.TargetError{Field: "work", Message: fmt.Sprintf("%q is not a number", text)}
		}
		out.Work = &work
	}
	return out, out.Normalize()
}

// uploadURL is the upload page with the target filled in.
func (t target) uploadURL() templ.SafeURL {
	return withQuery("/upload", t.query())
}

func (t target) query() url.Values {
	q := url.Values{}
	for name, value := range t.fields() {
		if *value != "" {
			q.Set(name, *value)
		}
	}
	return q
}

// curl is the command that uploads a file without a browser. What is not typed yet stands in capitals.
func (t target) curl(server string) string {
	address := server + "/api/v1/evidence?project=" + url.QueryEscape(cmp.Or(t.project, "PROJECT")) + "&build=" + url.QueryEscape(cmp.Or(t.build, "BUILD"))
	t.project, t.build = "", ""
	if rest := t.query().Encode(); rest != "" {
		address += "&" + rest
	}
	return `curl --fail-with-body -T snap1.log "` + address + `&name=snap1.log"`
}

// printable drops from text of an address what no name holds and the database does not take.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

func projectURL(name string) templ.SafeURL {
	return templ.SafeURL("/projects/" + url.PathEscape(name))
}

func runURL(id int64) templ.SafeURL {
	return templ.SafeURL("/runs/" + strconv.FormatInt(id, 10))
}
