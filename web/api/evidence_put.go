package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
	"heapdrift/web/problem"
)

// evidenceReceipt is the answer to an upload of evidence.
type evidenceReceipt struct {
	ID     int64  `json:"id"`
	SHA256 string `json:"sha256"`
	Run    int64  `json:"run"`
	URL    string `json:"url"` // the run's page, relative to the server
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Kind   string `json:"kind"`
	// Warnings say what is odd about the build; the run has those of a resumable upload.
	Warnings []leaks.BuildWarning `json:"warnings"`
}

func acceptedOf(e store.Evidence) evidenceReceipt {
	return evidenceReceipt{ID: e.ID, SHA256: e.SHA256, Run: e.RunID, URL: address.Run(e.RunID), Name: e.Name,
		Bytes: e.Bytes, Kind: e.Kind}
}

// evidencePut handles PUT /api/v1/evidence: the body is the file. The same file may be sent again; it is recorded once.
func (a *API) evidencePut(c echo.Context) error {
	r := c.Request()
	query := r.URL.Query()
	target, err := leaks.UploadTargetOf(query.Get)
	if err != nil {
		return err
	}
	target.Urgent = awaited(r)
	if err := a.wholePut(r); err != nil {
		return err
	}
	body := bodyOf(c)
	evidence, err := a.intake.Accept(r.Context(), target, query.Get("name"),
		intake.Body{Reader: body, Bytes: r.ContentLength})
	if err != nil {
		return body.blame(err)
	}
	receipt := acceptedOf(evidence)
	warnings, err := store.Read(r.Context(), a.store, func(v store.View) ([]leaks.BuildWarning, error) {
		return v.ListRunWarnings(r.Context(), evidence.RunID)
	})
	if err != nil {
		return err
	}
	receipt.Warnings = filled(warnings)
	c.Response().Header().Set(echo.HeaderLocation, runResource(evidence.RunID))
	return fresh(c, http.StatusCreated, receipt)
}

// wholePut refuses, by its head alone, a PUT of a part of a file or of one that is too large.
func (a *API) wholePut(r *http.Request) error {
	if r.Header.Get("Content-Range") != "" { // curl -C: to store a part as the whole would be worse than to refuse
		return problem.New(http.StatusBadRequest, problem.CodePartialPut,
			"a PUT carries a whole file; resume with the tus protocol instead")
	}
	if limit := a.intake.MaxBytes; limit > 0 && r.ContentLength > limit {
		return intake.ErrTooLarge
	}
	return a.intake.CheckQuota(r.Context(), max(r.ContentLength, 0))
}
