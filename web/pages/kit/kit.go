// Package kit serves the page of a project that says how to record evidence of a process: by heapdrift, or by scripts
// for a machine that may not run it.
//
// In come /projects/:project/kit with a program, a kind of evidence, a scenario and a number of snapshots, and the same
// with kit.zip. Out go the page, filled in with the server's address, and an archive of the scripts.
package kit

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/kit"
	"heapdrift/internal/store"
	"heapdrift/web/address"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// pages holds the handlers of this package.
type pages struct{ store *store.Store }

// Register adds the routes of kits.
func Register(e *echo.Echo, s *store.Store, use echo.MiddlewareFunc) {
	p := &pages{store: s}
	e.GET("/projects/:project/kit", p.page, use)
	e.HEAD("/projects/:project/kit", p.page, use)
	e.GET("/projects/:project/kit.zip", p.archive, use)
	e.HEAD("/projects/:project/kit.zip", p.archive, use)
}

// A view is the page.
type view struct {
	ui.Frame
	order kit.Order
	kind  kit.Kind
	files []kit.File
	// record and write are the lines that do the same with heapdrift, on the machine or anywhere.
	record, write string
	wrong         map[string]string // what is wrong with a field of the form
}

// orderOf reads what an address asks for.
func (p *pages) orderOf(c echo.Context) (kit.Order, error) {
	name, err := ui.NameInPath(c, "project")
	if err != nil {
		return kit.Order{}, err
	}
	ctx := c.Request().Context()
	exists := func(v store.View) (int64, error) { return v.FindProjectID(ctx, name) }
	if _, err := store.Read(ctx, p.store, exists); err != nil {
		return kit.Order{}, err
	}
	o := kit.Order{Project: name, Server: ui.ServerURL(c), Evidence: cmp.Or(c.QueryParam("evidence"), kit.Kinds[0].Name),
		Image: strings.TrimSpace(c.QueryParam("image")), Scenario: strings.TrimSpace(c.QueryParam("scenario")),
		Build: strings.TrimSpace(c.QueryParam("build")), PerWork: c.QueryParam("per-work") != ""}
	if text := c.QueryParam("snapshots"); text != "" {
		if o.Snapshots, err = strconv.Atoi(text); err != nil {
			o.Snapshots = -1 // which Write refuses
		}
	}
	if o.Every, err = time.ParseDuration(cmp.Or(c.QueryParam("every"), "0s")); err != nil || o.Every < 0 {
		return o, problem.Invalid("every", "every: %q is not a duration such as 5m", c.QueryParam("every"))
	}
	return o, nil
}

// page handles GET /projects/:project/kit.
func (p *pages) page(c echo.Context) error {
	o, err := p.orderOf(c)
	if err != nil {
		return err
	}
	v := view{Frame: ui.FrameOf(c, "Kit of "+o.Project), order: o, wrong: map[string]string{}}
	v.Crumbs = []ui.Crumb{{Text: o.Project, URL: ui.ProjectURL(o.Project)}, {Text: "Kit"}}
	v.kind, _ = kit.Find(o.Evidence)
	if o.Image != "" {
		v.files, err = kit.Write(o)
		var refused *kit.Error
		if errors.As(err, &refused) {
			v.wrong[refused.Field] = refused.Message
		} else if err != nil {
			return err
		}
	}
	v.record, v.write = o.RecordLine(), o.KitLine()
	return ui.Render(c, http.StatusOK, kitPage(v))
}

// archive handles GET /projects/:project/kit.zip.
func (p *pages) archive(c echo.Context) error {
	o, err := p.orderOf(c)
	if err != nil {
		return err
	}
	files, err := kit.Write(o)
	var refused *kit.Error
	if errors.As(err, &refused) {
		return problem.Invalid(refused.Field, "%s", refused.Error())
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create("kit-" + o.Evidence + "/" + f.Name)
		if err == nil {
			_, err = w.Write([]byte(f.Text))
		}
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="kit-`+o.Evidence+`.zip"`)
	return c.Blob(http.StatusOK, "application/zip", b.Bytes())
}

// kept are the parts of an order that the form has and does not show.
var kept = []string{"build", "every", "per-work"}

// zipURL is the archive of the kit that the page shows.
func (v view) zipURL() templ.SafeURL {
	return templ.SafeURL(address.Project(v.order.Project) + "/kit.zip?" + v.order.Query().Encode())
}

// about says what the evidence needs and tells.
func (v view) about() string {
	return v.kind.Title + ". Needs: " + v.kind.Needs + ". Shows " + v.kind.Decides + "."
}
