package push

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// An ImportedRules is the server's translation of another tool's file.
type ImportedRules struct {
	Lines    []string `json:"lines"` // rules
	Rejected []struct {
		Line    int    `json:"line"`
		Message string `json:"message"`
	} `json:"rejected"`
	Saved *struct {
		Version int `json:"version"`
		Runs    int `json:"runs"` // that are analysed again
	} `json:"saved"` // nil where nothing was saved
}

// ImportSuppressions has the server translate suppressions to rules of a project, and save them if apply is set.
func (c *Client) ImportSuppressions(ctx context.Context, project, text string, apply bool) (*ImportedRules, error) {
	query := url.Values{"kind": {"suppressions"}}
	if apply {
		query.Set("apply", "1")
	}
	a, err := c.ask(ctx, request{method: http.MethodPost, timeout: answerTime,
		path:   "/api/v1/projects/" + url.PathEscape(project) + "/rules/import?" + query.Encode(),
		header: map[string]string{"Content-Type": "text/plain; charset=utf-8"},
		body:   func() (io.Reader, int64) { return strings.NewReader(text), int64(len(text)) }})
	if err != nil {
		return nil, err
	}
	made := &ImportedRules{}
	return made, a.decode(made)
}

// Suppressions returns the file of suppressions for a project's known leaks; form is the tool that reads it.
func (c *Client) Suppressions(ctx context.Context, project, form string) ([]byte, error) {
	a, err := c.ask(ctx, request{method: http.MethodGet, timeout: answerTime,
		path: "/api/v1/projects/" + url.PathEscape(project) + "/suppressions?" + url.Values{"form": {form}}.Encode()})
	if err != nil {
		return nil, err
	}
	return a.body, nil
}
