// Package address knows where the server's pages are: in go names and numbers, out come addresses relative to the
// server. Pages and the API lead to the same places by it.
package address

import (
	"net/url"
	"strconv"
)

// Run is the address of the page of the run with this id.
func Run(id int64) string { return "/runs/" + strconv.FormatInt(id, 10) }

// Project is the address of the page of a project.
func Project(name string) string { return "/projects/" + url.PathEscape(name) }

// Signature is the address of the page of a leak.
func Signature(project, signature string) string {
	return Project(project) + "/signatures/" + url.PathEscape(signature)
}

// Compare is the address of the page that compares two builds; "" leaves the choice to the server.
func Compare(project, scenario, base, head string) string {
	q := url.Values{}
	for name, value := range map[string]string{"scenario": scenario, "base": base, "head": head} {
		if value != "" {
			q.Set(name, value)
		}
	}
	to := Project(project) + "/compare"
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// Kit is the address of the page with the commands that record a program, which the query describes.
func Kit(project string, q url.Values) string { return Project(project) + "/kit?" + q.Encode() }
