package push

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// A ListedLeak is a leak of a project, as the API lists it.
type ListedLeak struct {
	signature
	Signature     string `json:"signature"`
	State         string `json:"state"`
	Class         string `json:"class"` // the gravest that any run gave it
	LastSeenBuild string `json:"last_seen_build"`
	FixedBuild    string `json:"fixed_build"`
	Known         *struct {
		Reason     string  `json:"reason"`
		Until      *string `json:"until"`
		UntilBuild string  `json:"until_build"`
		Expired    bool    `json:"expired"`
	} `json:"known"`

	// Text is the leak as the server sent it, with the fields that this version does not know.
	Text json.RawMessage `json:"-"`
}

// Responsible is who has the leak: whom it is assigned to, else its owner by the rules.
func (l *ListedLeak) Responsible() string {
	if l.Assignee != "" {
		return l.Assignee
	}
	return l.Owner
}

// Growth returns the bytes and blocks by which the leak grew in the newest build that shows it; ok is false where that
// is unknown.
func (l *ListedLeak) Growth() (size, count int64, ok bool) {
	if g := l.Latest.Growth; g != nil {
		return g.Bytes, g.Count, true
	}
	return 0, 0, false
}

// leaksPath is the list of a project's leaks.
func leaksPath(project string) string {
	return "/api/v1/projects/" + url.PathEscape(project) + "/signatures"
}

// Leaks lists the leaks of a project that fit a query of the API, all pages of them.
func (c *Client) Leaks(ctx context.Context, project string, query url.Values) ([]ListedLeak, error) {
	query.Set("limit", "500")
	path := leaksPath(project) + "?" + query.Encode()
	var list []ListedLeak
	for path != "" {
		a, err := c.ask(ctx, request{method: http.MethodGet, path: path, timeout: answerTime})
		if err != nil {
			return nil, err
		}
		var page struct {
			Signatures []json.RawMessage `json:"signatures"`
			Next       string            `json:"next"`
		}
		if err := a.decode(&page); err != nil {
			return nil, err
		}
		for _, text := range page.Signatures {
			l, err := listedLeak(text)
			if err != nil {
				return nil, err
			}
			list = append(list, *l)
		}
		if page.Next != "" && !strings.HasPrefix(page.Next, "/api/v1/") {
			return nil, &Error{Code: CodeNotHeapdrift, Message: fmt.Sprintf("the server puts the next page at %q", page.Next),
				Do: "check that --url is the address of a heapdrift server"}
		}
		path = page.Next
	}
	return list, nil
}

func listedLeak(text json.RawMessage) (*ListedLeak, error) {
	l := &ListedLeak{Text: text}
	return l, (&answer{body: text}).decode(l)
}

// ChangeLeak changes what the team says of a leak, by fields of the API, and returns the leak afterwards.
func (c *Client) ChangeLeak(ctx context.Context, project, signature string,
	fields map[string]any) (*ListedLeak, error) {
	a, err := c.sendJSON(ctx, http.MethodPatch, leaksPath(project)+"/"+url.PathEscape(signature), fields)
	if err != nil {
		return nil, err
	}
	return listedLeak(a.body)
}

// sendJSON sends an object and returns the answer.
func (c *Client) sendJSON(ctx context.Context, method, path string, body any) (*answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return c.ask(ctx, request{method: method, path: path, timeout: answerTime,
		header: map[string]string{"Content-Type": "application/json"},
		body:   func() (io.Reader, int64) { return bytes.NewReader(text), int64(len(text)) }})
}
