package ui

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A Target is a leaks.UploadTarget as people type it: texts that were not checked.
type Target struct{ Project, Build, Scenario, Run, Branch, Commit, Sequence, Work, WorkUnit string }

// Fields are the names that forms, addresses and the API use, with the value of each.
func (t *Target) Fields() map[string]*string {
	return map[string]*string{
		"project": &t.Project, "build": &t.Build, "scenario": &t.Scenario, "run": &t.Run, "branch": &t.Branch,
		"commit": &t.Commit, "sequence": &t.Sequence,
		"work": &t.Work, "work_unit": &t.WorkUnit,
	}
}

// TargetOfQuery reads the target in the query of an address.
func TargetOfQuery(c echo.Context) Target {
	var t Target
	for name, value := range t.Fields() {
		*value = Printable(c.QueryParam(name))
	}
	return t
}

// TargetOfRun is the target of more evidence for a run.
func TargetOfRun(r store.Run) Target {
	return Target{Project: r.Project, Build: r.Build, Scenario: r.Scenario, Run: r.Name, Branch: r.Branch}
}

// Parse checks a target. Its error is a *leaks.FieldError.
func (t Target) Parse() (leaks.UploadTarget, error) {
	fields := t.Fields()
	return leaks.UploadTargetOf(func(name string) string {
		if value := fields[name]; value != nil {
			return *value
		}
		return "" // programs alone name it, such as the commits behind a build
	})
}

// UploadURL is the upload page with the target filled in.
func (t Target) UploadURL() templ.SafeURL {
	return WithQuery("/upload", t.query())
}

func (t Target) query() url.Values {
	q := url.Values{}
	for name, value := range t.Fields() {
		if *value != "" {
			q.Set(name, *value)
		}
	}
	return q
}

// PushCommand is the command that uploads all files of a run with the program. What is not typed yet stands in
// capitals.
func (t Target) PushCommand(c echo.Context) string {
	words := []string{"heapdrift push --url", ServerURL(c), "--project", shellWord(cmp.Or(t.Project, "PROJECT")), "--build",
		shellWord(cmp.Or(t.Build, "BUILD"))}
	if t.Scenario != "" {
		words = append(words, "--scenario", shellWord(t.Scenario))
	}
	return strings.Join(append(words, `"snap*.log"`), " ")
}

// shellWord is a word for the shells of Windows and others. A character that they read otherwise becomes an underscore.
func shellWord(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return !isPlain(r) }) {
		return word
	}
	return `"` + strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"$`%!\\", r) || r < ' ' {
			return '_'
		}
		return r
	}, word) + `"`
}

// isPlain reports whether no shell gives a character a meaning.
func isPlain(r rune) bool {
	return strings.ContainsRune("-_./", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// CurlCommand is the command that uploads a file without a browser, with a header where the server asks for one. What
// is not typed yet stands in capitals.
func (t Target) CurlCommand(c echo.Context) string {
	server, header := ServerURL(c), ""
	if !accounts.ActorFrom(c.Request().Context()).Open {
		header = `-H "Authorization: Bearer $HEAPDRIFT_TOKEN" `
	}
	address := server + "/api/v1/evidence?project=" + url.QueryEscape(cmp.Or(t.Project, "PROJECT")) + "&build=" +
		url.QueryEscape(cmp.Or(t.Build, "BUILD"))
	t.Project, t.Build = "", ""
	if rest := t.query().Encode(); rest != "" {
		address += "&" + rest
	}
	return `curl --fail-with-body ` + header + `-T snap1.log "` + address + `&name=snap1.log"`
}
