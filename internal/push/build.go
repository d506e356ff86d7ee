package push

import (
	"context"
	"net/http"
	"net/url"
)

// A Build is what the server knows of a build.
type Build struct {
	Name     string `json:"name"`
	Sequence *int64 `json:"sequence"`
	Branch   string `json:"branch"`
	Commit   string `json:"commit"`
	Fork     string `json:"fork"`
	Runs     []struct {
		Scenario string `json:"scenario"`
		Name     string `json:"name"`
	} `json:"runs"`
}

func buildPath(project, build string) string {
	return "/api/v1/projects/" + url.PathEscape(project) + "/builds/" + url.PathEscape(build)
}

// Build asks for a build; nil where the server has none of that name.
func (c *Client) Build(ctx context.Context, project, build string) (*Build, error) {
	a, err := c.ask(ctx, request{method: http.MethodGet, path: buildPath(project, build), timeout: answerTime})
	if isRefused(err, http.StatusNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b := new(Build)
	return b, a.decode(b)
}

// ChangeBuild corrects a build by fields of the API, and returns it as it is afterwards.
func (c *Client) ChangeBuild(ctx context.Context, project, build string, fields map[string]any) (*Build, error) {
	a, err := c.sendJSON(ctx, http.MethodPatch, buildPath(project, build), fields)
	if err != nil {
		return nil, err
	}
	b := new(Build)
	return b, a.decode(b)
}
