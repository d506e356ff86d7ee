package run

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

const (
	// shownProcesses stand in the panel before the rest folds.
	shownProcesses = 8
	// maxProcesses are in the panel at all.
	maxProcesses = 50
)

// chooseProcess handles POST /runs/:id/process: the buttons that choose the process of the report.
func (p *pages) chooseProcess(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	r := c.Request()
	if !r.PostForm.Has("process") {
		return problem.Invalid("process", "select a process")
	}
	if err := p.store.UpdateProcess(r.Context(), id, r.PostForm.Get("process")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.RunURL(id)))
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
	analysis.ProcessChoice
	current bool
}

func (r *reader) processPanel(ctx context.Context, run store.Run, report *analysis.Report) (processPanel, error) {
	panel := processPanel{run: run.ID, chosen: run.ChosenProcess}
	list, all, err := r.ListProcesses(ctx, run.ID, maxProcesses)
	if err != nil {
		return panel, err
	}
	panel.all = all
	for i := range list {
		row := processRow{list[i], list[i].IsOf(report)}
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
