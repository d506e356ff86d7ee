package ui

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/web/address"
)

// ServerURL is the address of this server that the reader used.
func ServerURL(c echo.Context) string { return c.Scheme() + "://" + c.Request().Host }

// ProjectURL is the page of a project.
func ProjectURL(name string) templ.SafeURL {
	return templ.SafeURL(address.Project(name))
}

// ScenarioURL is the page of a project with one scenario only.
func ScenarioURL(project, scenario string) templ.SafeURL {
	return ProjectURL(project) + templ.SafeURL("?"+url.Values{"scenario": {scenario}}.Encode())
}

// SymbolsURL is the page of a project's symbols.
func SymbolsURL(project string) templ.SafeURL { return ProjectURL(project) + "/symbols" }

// SettingsURL is the page of a project's settings.
func SettingsURL(project string) templ.SafeURL { return ProjectURL(project) + "/settings" }

// SignatureURL is the page of a leak.
func SignatureURL(project, signature string) templ.SafeURL {
	return templ.SafeURL(address.Signature(project, signature))
}

// CompareURL is the page that compares builds; empty names leave the choice to the server.
func CompareURL(project, scenario, base, head string) templ.SafeURL {
	return templ.SafeURL(address.Compare(project, scenario, base, head))
}

// RulesURL is the editor of a project's rules.
func RulesURL(project string) templ.SafeURL { return ProjectURL(project) + "/rules" }

// SuppressionsURL is the known leaks of a project as a file of suppressions.
func SuppressionsURL(project, form string) templ.SafeURL {
	return "/api/v1" + ProjectURL(project) + templ.SafeURL("/suppressions?"+url.Values{"form": {form}}.Encode())
}

// PolicyURL is the page that says when gates of a project fail.
func PolicyURL(project string) templ.SafeURL { return ProjectURL(project) + "/policy" }

// PolicyVersionURL is that page with an older version of the policies.
func PolicyVersionURL(project string, version int) templ.SafeURL {
	return PolicyURL(project) + templ.SafeURL("?version="+strconv.Itoa(version))
}

// RuleVersionURL is the editor with an older version of the rules.
func RuleVersionURL(project string, version int) templ.SafeURL {
	return RulesURL(project) + templ.SafeURL("?version="+strconv.Itoa(version))
}

// RuleProposalURL is the editor with lines to add to the rules.
func RuleProposalURL(project, lines string) templ.SafeURL {
	return RulesURL(project) + templ.SafeURL("?"+url.Values{"add": {lines}}.Encode())
}

// RunURL is the page of a run.
func RunURL(id int64) templ.SafeURL {
	return templ.SafeURL(address.Run(id))
}

// EvidenceURL is a file of a run as it was uploaded.
func EvidenceURL(run, file int64) templ.SafeURL {
	return templ.SafeURL(fmt.Sprintf("/api/v1/runs/%d/evidence/%d", run, file))
}

// A Field is a parameter of an address.
type Field struct{ Name, Value string }

// WithFields is the address of a page with fields as its query.
func WithFields(page templ.SafeURL, fields []Field) templ.SafeURL {
	q := url.Values{}
	for _, f := range fields {
		q.Set(f.Name, f.Value)
	}
	return WithQuery(page, q)
}

// WithQuery is the address of a page with a query, if there is any.
func WithQuery(page templ.SafeURL, q url.Values) templ.SafeURL {
	if len(q) == 0 {
		return page
	}
	return page + templ.SafeURL("?"+q.Encode())
}
