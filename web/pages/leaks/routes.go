// Package leaks serves what a project knows of its leaks: the page of a signature, the list that the project's page
// shows, two builds side by side, and the rules that say whom to blame.
//
// In come the addresses below /projects/:project that name a signature, a comparison or the rules, and the forms in
// which the team says what it knows. Out go whole pages, and for the project's page a Card made of a Table.
package leaks

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// pages holds the handlers of this package.
type pages struct{ store *store.Store }

// Register adds the routes of leaks, comparisons, rules and policies. A button that only redirects does without use.
func Register(e *echo.Echo, s *store.Store, use echo.MiddlewareFunc) {
	p := &pages{store: s}
	for path, handle := range map[string]echo.HandlerFunc{
		"/projects/:project/compare":               p.compare,
		"/projects/:project/policy":                p.policy,
		"/projects/:project/rules":                 p.rules,
		"/projects/:project/signatures/:signature": p.signature,
	} {
		e.GET(path, handle, use)
		e.HEAD(path, handle, use)
	}
	e.POST("/projects/:project/signatures", p.signaturesPost, use)
	e.POST("/projects/:project/signatures/:signature", p.signaturePost, use)
	e.POST("/projects/:project/signatures/:signature/comments", p.signatureComment, use)
	e.POST("/projects/:project/signatures/:signature/merge", p.signatureMerge, use)
	e.POST("/projects/:project/baseline", p.baselinePost)
	e.POST("/projects/:project/policy", p.policyPost, use)
	e.POST("/projects/:project/rules", p.rulesPost, use)
	e.POST("/projects/:project/rules/import", p.rulesImport, use)
}
