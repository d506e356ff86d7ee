package guard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/web/api"
)

// A need is what a route requires of its caller: a right in a project, which the finder finds.
type need struct {
	right accounts.Right
	in    finder // nil: the route is public
	makes bool   // the project may be a new one, where the actor may make projects
}

// A finder is the numbers of the projects that a request is about, of which all must be the asker's; errAnywhere where
// any project will do, errServer where it is about the server as a whole. It returns store.ErrNotFound where there is
// nothing of the name, and another error where the server fails.
type finder func(echo.Context, store.View) ([]int64, error)

var (
	errAnywhere = errors.New("guard: any project will do")
	errServer   = errors.New("guard: the server as a whole")
)

// Rows of the table, by what they need.
var (
	public   = need{}
	known    = need{in: anywhere}
	ofServer = need{in: wholeServer}
)

func in(f finder, right accounts.Right) need { return need{right: right, in: f} }

// table is what each route needs, the one place where that is decided. A HEAD needs what its GET does.
var table = map[string]need{
	"GET /healthz":             public,
	"GET /readyz":              public,
	"GET /favicon.ico":         public,
	"GET /static/*":            public,
	"GET /api/v1/openapi.yaml": public,
	// Jobs fetch the program before they have a token; it is that of a public release and holds no secret.
	"GET /download":                 public,
	"GET /download/:platform/:file": public,
	// Its key stands for a token: the scheduled task of a recording has none.
	"POST /api/v1/restored":    public,
	"OPTIONS /api/v1/evidence": public,
	"GET /login":               public,
	"POST /login":              public,
	"POST /logout":             public,
	"GET /login/issuer":        public,
	"GET /login/issuer/return": public,
	"GET /setup/:code":         public,
	"POST /setup/:code":        public,

	// They show what the actor may see of all projects.
	"GET /":        known,
	"GET /account": known,
	"GET /search":  known,

	"GET /operators":              ofServer,
	"POST /operators/retry":       ofServer,
	"GET /api/v1/failures":        ofServer,
	"POST /api/v1/failures/retry": ofServer,
	"GET /accounts":               ofServer,
	"POST /accounts":              ofServer,
	"POST /accounts/:user":        ofServer,
	"POST /accounts/:user/link":   ofServer,
	"POST /projects":              ofServer,
	"GET /api/v1/audit":           ofServer,
	"POST /api/v1/projects":       ofServer,

	"GET /upload":         in(anywhere, accounts.Upload),
	"POST /upload":        in(anywhere, accounts.Upload), // its handler asks AllowUpload for the project that the form names
	"POST /upload/glance": in(anywhere, accounts.Upload), // it stores nothing
	// Symbol files are shared by all projects.
	"POST /symbols":                          in(anywhere, accounts.Upload),
	"PUT /api/v1/symbols":                    in(anywhere, accounts.Upload),
	"GET /symbols/*":                         in(anywhere, accounts.Read),
	"GET /symbols/:name/:key/:file":          in(anywhere, accounts.Read),
	"GET /symbols/:name/:key/msfz0/:file":    in(anywhere, accounts.Read),
	"PUT /api/v1/evidence":                   {right: accounts.Upload, in: projectOfQuery, makes: true},
	"POST /api/v1/evidence":                  {right: accounts.Upload, in: projectOfMetadata, makes: true},
	"HEAD /api/v1/evidence/:id":              {right: accounts.Upload, in: projectOfUpload, makes: true},
	"PATCH /api/v1/evidence/:id":             {right: accounts.Upload, in: projectOfUpload, makes: true},
	"DELETE /api/v1/evidence/:id":            {right: accounts.Upload, in: projectOfUpload, makes: true},
	"POST /api/v1/evidence/:id":              {right: accounts.Upload, in: projectOfUpload, makes: true},
	"GET /api/v1/runs/:id":                   in(projectOfRun, accounts.Decide),
	"GET /api/v1/runs/:id/verdict":           in(projectOfRun, accounts.Decide),
	"GET /api/v1/runs/:id/decisions":         in(projectOfRun, accounts.Decide),
	"GET /api/v1/runs/:id/evidence/:file":    in(projectOfRun, accounts.Read),
	"DELETE /api/v1/runs/:id/evidence/:file": in(projectOfRun, accounts.Manage),
	"DELETE /api/v1/runs/:id":                in(projectOfRun, accounts.Manage),
	"POST /runs/:id/delete":                  in(projectOfRun, accounts.Manage),
	"POST /api/v1/runs/:id/complete":         in(projectOfRun, accounts.Upload),
	"PUT /api/v1/runs/:id/recording":         in(projectOfRun, accounts.Upload),
	"POST /api/v1/runs/:id/symbolise":        in(projectOfRun, accounts.Upload),
	"POST /api/v1/runs/:id/retry":            in(projectOfRun, accounts.Upload),
	"POST /api/v1/runs/:id/cancel":           in(projectOfRun, accounts.Upload),
	"POST /api/v1/runs/:id/process":          in(projectOfRun, accounts.Change),
	"GET /api/v1/runs/:id/unaccepted":        in(projectOfRun, accounts.Read),
	"GET /api/v1/runs/:id/tests":             in(projectOfRun, accounts.Read),
	"GET /runs/:id/tests":                    in(projectOfRun, accounts.Read),
	"POST /api/v1/runs/:id/accept":           in(projectOfRun, accounts.Change),
	"GET /runs/:id/accept":                   in(projectOfRun, accounts.Read),
	"GET /api/v1/runs/:id/report":            in(projectOfRun, accounts.Read),
	"GET /api/v1/runs/:id/window":            in(projectOfRun, accounts.Read),
	"GET /api/v1/runs/:id/views/:view":       in(projectOfRun, accounts.Read),
	"GET /api/v1/runs/:id/allocations":       in(projectOfRun, accounts.Read),
	"GET /runs/:id":                          in(projectOfRun, accounts.Read),
	"GET /runs/:id/sites/:ordinal":           in(projectOfRun, accounts.Read),
	"GET /runs/:id/memory":                   in(projectOfRun, accounts.Read),
	"GET /runs/:id/events":                   in(projectOfRun, accounts.Read),
	"POST /runs/:id/process":                 in(projectOfRun, accounts.Change),
	"POST /runs/:id/accept":                  in(projectOfRun, accounts.Change),
	"POST /runs/:id/symbolise":               in(projectOfRun, accounts.Upload),
	"POST /runs/:id/retry":                   in(projectOfRun, accounts.Upload),
	"POST /runs/:id/cancel":                  in(projectOfRun, accounts.Upload),
	"GET /api/v1/compare":                    in(projectsCompared, accounts.Read),
	"GET /api/v1/compare/tree":               in(projectsCompared, accounts.Read),
	"GET /projects/:project":                 in(projectOfPath, accounts.Read),
	"GET /projects/:project/symbols":         in(projectOfPath, accounts.Read),
	"GET /projects/:project/kit":             in(projectOfPath, accounts.Read),
	"GET /projects/:project/kit.zip":         in(projectOfPath, accounts.Read),
	"GET /projects/:project/compare":         in(projectOfPath, accounts.Read),
	"GET /projects/:project/rules":           in(projectOfPath, accounts.Read),
	"POST /projects/:project/rules":          in(projectOfPath, accounts.Change),
	"POST /projects/:project/rules/import":   in(projectOfPath, accounts.Change),
	"GET /projects/:project/policy":          in(projectOfPath, accounts.Read),
	"POST /projects/:project/policy":         in(projectOfPath, accounts.Manage),
	"POST /projects/:project/baseline":       in(projectOfPath, accounts.Change),

	"POST /projects/:project/signatures":                     in(projectOfPath, accounts.Change),
	"GET /projects/:project/signatures/:signature":           in(projectOfPath, accounts.Read),
	"POST /projects/:project/signatures/:signature":          in(projectOfPath, accounts.Change),
	"POST /projects/:project/signatures/:signature/comments": in(projectOfPath, accounts.Change),
	"POST /projects/:project/signatures/:signature/merge":    in(projectOfPath, accounts.Change),

	"GET /projects/:project/settings":                in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/delete":        in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/builds":        in(projectOfPath, accounts.Manage),
	"DELETE /api/v1/projects/:project":               in(projectOfPath, accounts.Manage),
	"GET /api/v1/projects/:project/retention":        in(projectOfPath, accounts.Read),
	"PUT /api/v1/projects/:project/retention":        in(projectOfPath, accounts.Manage),
	"PUT /api/v1/projects/:project/hold":             in(projectOfPath, accounts.Manage),
	"DELETE /api/v1/projects/:project/hold":          in(projectOfPath, accounts.Manage),
	"PUT /api/v1/runs/:id/hold":                      in(projectOfRun, accounts.Manage),
	"DELETE /api/v1/runs/:id/hold":                   in(projectOfRun, accounts.Manage),
	"POST /runs/:id/hold":                            in(projectOfRun, accounts.Manage),
	"POST /projects/:project/settings/retention":     in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/hold":          in(projectOfPath, accounts.Manage),
	"DELETE /api/v1/projects/:project/builds/:build": in(projectOfPath, accounts.Manage),
	"GET /api/v1/projects/:project":                  in(projectOfPath, accounts.Read),
	"PATCH /api/v1/projects/:project":                in(projectOfPath, accounts.Manage),
	"GET /api/v1/projects/:project/builds/:build":    in(projectOfPath, accounts.Decide),
	"PATCH /api/v1/projects/:project/builds/:build":  in(projectOfPath, accounts.Manage),

	"PUT /api/v1/projects/:project/builds/:build/ancestors": in(projectOfPath, accounts.Upload),
	"POST /api/v1/projects/:project/builds/:build/symbols":  in(projectOfPath, accounts.Upload),
	"POST /api/v1/projects/:project/restored":               in(projectOfPath, accounts.Upload),
	"POST /projects/:project/settings/rename":               in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/members":              in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/sources":              in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/tokens":               in(projectOfPath, accounts.Manage),
	"POST /projects/:project/settings/tokens/:number":       in(projectOfPath, accounts.Manage),

	"POST /api/v1/projects/:project/baseline":                       in(projectOfPath, accounts.Change),
	"GET /api/v1/projects/:project/audit":                           in(projectOfPath, accounts.Read),
	"GET /api/v1/projects/:project/rules":                           in(projectOfPath, accounts.Read),
	"PUT /api/v1/projects/:project/rules":                           in(projectOfPath, accounts.Change),
	"POST /api/v1/projects/:project/rules/import":                   in(projectOfPath, accounts.Change),
	"POST /api/v1/projects/:project/rules/preview":                  in(projectOfPath, accounts.Read),
	"GET /api/v1/projects/:project/suppressions":                    in(projectOfPath, accounts.Read),
	"GET /api/v1/projects/:project/policy":                          in(projectOfPath, accounts.Read),
	"PUT /api/v1/projects/:project/policy":                          in(projectOfPath, accounts.Manage),
	"POST /api/v1/projects/:project/policy/preview":                 in(projectOfPath, accounts.Read),
	"GET /api/v1/projects/:project/signatures":                      in(projectOfPath, accounts.Read),
	"GET /api/v1/projects/:project/signatures/:signature":           in(projectOfPath, accounts.Read),
	"PATCH /api/v1/projects/:project/signatures/:signature":         in(projectOfPath, accounts.Change),
	"GET /api/v1/projects/:project/signatures/:signature/audit":     in(projectOfPath, accounts.Read),
	"POST /api/v1/projects/:project/signatures/:signature/comments": in(projectOfPath, accounts.Change),
	"POST /api/v1/projects/:project/signatures/:signature/merge":    in(projectOfPath, accounts.Change),
	"GET /api/v1/projects/:project/tokens":                          in(projectOfPath, accounts.Manage),
	"POST /api/v1/projects/:project/tokens":                         in(projectOfPath, accounts.Manage),
	"DELETE /api/v1/projects/:project/tokens/:number":               in(projectOfPath, accounts.Manage),
	"GET /api/v1/projects/:project/members":                         in(projectOfPath, accounts.Manage),
	"PUT /api/v1/projects/:project/members/:user":                   in(projectOfPath, accounts.Manage),
	"DELETE /api/v1/projects/:project/members/:user":                in(projectOfPath, accounts.Manage),
}

// needOf is what the route of a request needs; false where there is no such route, or none for the method: the router
// has its own handler then, and knows no parameters.
func needOf(c echo.Context) (need, bool) {
	if c.Get(echo.ContextKeyHeaderAllow) != nil {
		return need{}, false
	}
	return needOfRoute(c.Request().Method, c.Path())
}

func needOfRoute(method, path string) (need, bool) {
	n, ok := table[method+" "+path]
	if !ok && method == http.MethodHead {
		n, ok = table[http.MethodGet+" "+path]
	}
	return n, ok
}

// CheckCoverage returns an error that names the routes without a row in the table: a server with such routes does not
// start.
func CheckCoverage(routes []*echo.Route) error {
	var missing []string
	for _, r := range routes {
		if _, ok := needOfRoute(r.Method, r.Path); !ok && r.Method != echo.RouteNotFound {
			missing = append(missing, r.Method+" "+r.Path)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("guard: no line of the table says who may call %s", strings.Join(missing, ", "))
}

func anywhere(echo.Context, store.View) ([]int64, error)    { return nil, errAnywhere }
func wholeServer(echo.Context, store.View) ([]int64, error) { return nil, errServer }

func projectOfPath(c echo.Context, v store.View) ([]int64, error) {
	name, err := url.PathUnescape(c.Param("project"))
	if err != nil {
		return nil, store.ErrNotFound
	}
	return projectNamed(c, v, name)
}

func projectOfQuery(c echo.Context, v store.View) ([]int64, error) {
	name := strings.TrimSpace(c.QueryParam("project"))
	if name == "" {
		return nil, errAnywhere // the handler says what is missing
	}
	return projectNamed(c, v, name)
}

// projectNamed finds a project. What the database takes for no text names nothing.
func projectNamed(c echo.Context, v store.View, name string) ([]int64, error) {
	if !isText(name) {
		return nil, store.ErrNotFound
	}
	id, err := v.FindProjectID(c.Request().Context(), name)
	return []int64{id}, err
}

func isText(s string) bool { return strings.ToValidUTF8(s, "") == s && !strings.ContainsRune(s, 0) }

func projectOfRun(c echo.Context, v store.View) ([]int64, error) {
	run, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return nil, store.ErrNotFound
	}
	id, err := v.FindProjectOfRun(c.Request().Context(), run)
	return []int64{id}, err
}

// projectsCompared are those of the project and of the runs that a comparison names. What is no number the handler
// refuses.
func projectsCompared(c echo.Context, v store.View) ([]int64, error) {
	projects, err := projectOfQuery(c, v)
	if err != nil && !errors.Is(err, errAnywhere) {
		return nil, err
	}
	for _, name := range []string{"base_run", "head_run"} {
		run, malformed := strconv.ParseInt(c.QueryParam(name), 10, 64)
		if malformed != nil {
			continue
		}
		id, err := v.FindProjectOfRun(c.Request().Context(), run)
		if err != nil {
			return nil, err
		}
		projects = append(projects, id)
	}
	if len(projects) == 0 {
		return nil, errAnywhere
	}
	return projects, nil
}

// projectOfMetadata is where an upload that is announced belongs. Symbols belong to all projects, and metadata that the
// handler will refuse to none.
func projectOfMetadata(c echo.Context, v store.View) ([]int64, error) {
	return uploaded(c, v, api.AnnouncedUpload(c.Request().Header))
}

// projectOfUpload is where an upload under way belongs.
func projectOfUpload(c echo.Context, v store.View) ([]int64, error) {
	if !isText(c.Param("id")) {
		return nil, store.ErrNotFound
	}
	u, err := uploadstore.FindUpload(c.Request().Context(), v, c.Param("id"))
	if err != nil {
		return nil, err
	}
	return uploaded(c, v, api.ProjectOfUpload(&u))
}

func uploaded(c echo.Context, v store.View, project string) ([]int64, error) {
	if project == "" {
		return nil, errAnywhere
	}
	return projectNamed(c, v, project)
}
