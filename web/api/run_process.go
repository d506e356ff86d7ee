package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/web/problem"
)

const (
	// maxChoice is how long the choice of a process may be, in bytes of JSON: names of images are far shorter.
	maxChoice = 16 << 10
	// maxProcesses is how many processes a run lists.
	maxProcesses = 50
)

// processView is a process that the run's report may be about.
type processView struct {
	Process          string `json:"process"` // what chooses it
	Name             string `json:"name"`
	PID              uint32 `json:"pid"`
	Bits             uint8  `json:"bits"`
	OutstandingBytes int64  `json:"outstanding_bytes"`
}

// runProcess handles POST /api/v1/runs/:id/process: which process the report is to be about. It answers with the run.
func (a *API) runProcess(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	process, err := chosenProcess(c)
	if err != nil {
		return err
	}
	if err := a.store.UpdateProcess(c.Request().Context(), id, process); err != nil {
		return err
	}
	return a.sendRun(c, http.StatusAccepted, id)
}

// chosenProcess reads the choice from the body of a request.
func chosenProcess(c echo.Context) (string, error) {
	var choice struct {
		Process *string `json:"process"`
	}
	err := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxChoice)).Decode(&choice)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return "", problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge,
			"the choice of a process takes at most %d bytes", maxChoice)
	case err != nil || choice.Process == nil:
		return "", problem.Invalid("process",
			`process: the body must be JSON such as {"process": "app.exe"}; "" lets the server choose`)
	}
	return *choice.Process, nil
}

func viewOfProcesses(list []analysis.ProcessChoice) []processView {
	views := make([]processView, len(list))
	for i, c := range list {
		views[i] = processView{c.Choose, c.Name, c.PID, c.Bits, c.Held}
	}
	return views
}
