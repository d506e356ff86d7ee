package push

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"heapdrift/internal/leaks"
)

// A Build is what the server knows of a build.
type Build struct {
	Name     string `json:"name"`
	Sequence *int64 `json:"sequence"`
	Branch   string `json:"branch"`
	Commit   string `json:"commit"`
	Fork     string `json:"fork"`
	Runs     []struct {
		ID       int64  `json:"id"`
		Scenario string `json:"scenario"`
		Name     string `json:"name"`
	} `json:"runs"`
}

func buildPath(project, build string) string {
	return "/api/v1/projects/" + url.PathEscape(project) + "/builds/" + url.PathEscape(build)
}

// Build asks for a build; nil where the server has none with that name.
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

// setAncestors says which commits are behind the target's build: once, as the list is too long for what goes with each
// file. Servers that are older do not take it.
func (c *Client) setAncestors(ctx context.Context, t *leaks.UploadTarget) error {
	if len(t.Ancestors) == 0 {
		return nil
	}
	text := strings.Join(t.Ancestors, "\n") + "\n"
	_, err := c.ask(ctx, request{method: http.MethodPut, path: buildPath(t.Project, t.Build) + "/ancestors",
		timeout: answerTime, header: map[string]string{"Content-Type": "text/plain; charset=utf-8"},
		body: func() (io.Reader, int64) { return strings.NewReader(text), int64(len(text)) }})
	if isRefused(err, http.StatusNotFound) || isRefused(err, http.StatusMethodNotAllowed) {
		if c.Note != nil {
			c.Note("the server is of an older version and does not take the commits behind a build")
		}
		return nil
	}
	return err
}

// FreeRunName is a name for one more run of a build and scenario: the least number that no run of them has.
func (c *Client) FreeRunName(ctx context.Context, t *leaks.UploadTarget) (string, error) {
	b, err := c.Build(ctx, t.Project, t.Build)
	if isRefused(err, http.StatusMethodNotAllowed) {
		return "", &Error{Code: CodeOldServer, Message: "the server is of an older version and does not list the runs of a build",
			Do: "name the run by --run"}
	}
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	if b != nil {
		for _, r := range b.Runs {
			taken[r.Name] = taken[r.Name] || r.Scenario == t.Scenario
		}
	}
	for n := 1; ; n++ {
		if name := strconv.Itoa(n); !taken[name] {
			return name, nil
		}
	}
}

// A Project is what a team says of its project.
type Project struct {
	Name          string `json:"name"`
	DefaultBranch string `json:"default_branch"`
}

// ChangeProject changes a project by fields of the API, and returns it as it is afterwards.
func (c *Client) ChangeProject(ctx context.Context, project string, fields map[string]any) (*Project, error) {
	a, err := c.sendJSON(ctx, http.MethodPatch, "/api/v1/projects/"+url.PathEscape(project), fields)
	if err != nil {
		return nil, err
	}
	p := new(Project)
	return p, a.decode(p)
}
