package run

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/web/api"
	"heapdrift/web/pages/ui"
)

const (
	// shownProcesses stand in the panel before the rest folds.
	shownProcesses = 8
	// maxProcesses are in the panel at all.
	maxProcesses = 50
)

// chooseProcess handles POST /runs/:id/process: the buttons that choose the process of the report.
func (p *pages) chooseProcess(c echo.Context) error {
	run, err := p.runInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxForm); err != nil {
		return err
	}
	r := c.Request()
	if !r.PostForm.Has("process") {
		return &api.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid-process", Detail: "the form names no process"}
	}
	if err := p.store.ChooseProcess(r.Context(), run.ID, r.PostForm.Get("process")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(run.ID)))
}

// A processPanel is the processes that the report may be about.
type processPanel struct {
	run           int64
	chosen        string // "" where the server chooses
	shown, folded []processRow
	all           int
}

// A processRow is a process with whether the report is about it.
type processRow struct {
	analysis.Choice
	current bool
}

func (p *pages) processPanel(ctx context.Context, run store.Run, r *analysis.Report) (processPanel, error) {
	panel := processPanel{run: run.ID, chosen: run.Process}
	list, all, err := p.store.Processes(ctx, run.ID, maxProcesses)
	if err != nil {
		return panel, err
	}
	panel.all = all
	for i := range list {
		row := processRow{list[i], list[i].IsOf(r)}
		if i < shownProcesses || row.current {
			panel.shown = append(panel.shown, row)
		} else {
			panel.folded = append(panel.folded, row)
		}
	}
	return panel, nil
}

// unlisted is how many processes the panel has not.
func (p processPanel) unlisted() int { return p.all - len(p.shown) - len(p.folded) }

// name is that of the image.
func (r processRow) name() string {
	if r.Name == "" {
		return "unnamed process"
	}
	return r.Name
}

// facts tell processes of one name apart.
func (r processRow) facts() string {
	var parts []string
	switch {
	case strings.Contains(r.Choose, "#") && r.Choose != r.Name:
		parts = append(parts, "PID "+r.Choose)
	case r.PID != 0:
		parts = append(parts, fmt.Sprintf("PID %d", r.PID))
	}
	if r.Trace && r.Began > 0 {
		parts = append(parts, "from "+clock(r.Began))
	}
	return strings.Join(parts, ", ")
}
