package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/problem"
)

// recordingPut handles PUT /api/v1/runs/:id/recording: what heapdrift record and watch say of the run that they push:
// which settings are changed on the machine, and whether more is to come.
func (a *API) recordingPut(c echo.Context) error {
	run, err := runID(c)
	if err != nil {
		return err
	}
	var state leaks.RecordingState
	if err := readJSON(c, &state); err != nil {
		return err
	}
	if err := state.Check(); err != nil {
		return err
	}
	if err := a.store.UpdateRecording(c.Request().Context(), run, &state); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// restoredPost handles POST /api/v1/projects/:project/restored: nothing is changed on a host any more.
func (a *API) restoredPost(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	var body struct {
		Host string `json:"host"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.Host == "" || !leaks.IsSingleLine(body.Host) {
		return problem.Invalid("host", "host: name the machine")
	}
	if err := a.store.UpdateRestored(c.Request().Context(), project, body.Host, time.Now()); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// restoredByKeyPost handles POST /api/v1/restored: what a watch has changed on a machine is as before. The scheduled
// task that says so has no token. Its key says that it means this watch, and lets it say nothing else.
func (a *API) restoredByKeyPost(c echo.Context) error {
	var body struct {
		Project    string    `json:"project"`
		Key        string    `json:"key"`
		RestoredAt time.Time `json:"restored_at"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	switch {
	case body.Project == "":
		return problem.Invalid("project", "project: name the project of the recording")
	case len(body.Key) < minRestoreKey:
		return problem.Invalid("key", "key: it has at least %d characters", minRestoreKey)
	case body.RestoredAt.IsZero():
		return problem.Invalid("restored_at", "restored_at: say when the settings were restored")
	}
	digest := sha256.Sum256([]byte(body.Key))
	err := a.store.UpdateRestoredByKey(c.Request().Context(), body.Project, hex.EncodeToString(digest[:]), body.RestoredAt)
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// minRestoreKey is the shortest key, in characters: 128 bits in the alphabet of crypto/rand.Text are 26.
const minRestoreKey = 26
