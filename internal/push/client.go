// Package push is the client of a server for CI jobs. In come paths of evidence and symbols and the run that they
// belong to; out goes the verdict. Broken connections, restarts of the server and files that change meanwhile cost time
// and never give a wrong verdict.
package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer is how much of an answer is read, in bytes: a zip of many symbol files has many lines.
const maxAnswer = 64 << 20

// A Client talks to one server. It is safe for concurrent use.
type Client struct {
	root  string // without a slash at the end
	token string
	http  *http.Client
	// Pause waits between two tries; tests replace it.
	Pause func(ctx context.Context, d time.Duration) error
	// Note gets the reason when a request is tried again; nil for no call.
	Note func(text string)
	// Tries is how often a request is tried without progress; 0 for the default of CI jobs.
	Tries int
}

// NewClient returns the client of a server. The token may be empty where the server asks for none.
func NewClient(address, token string) (*Client, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, &Error{Code: CodeURL, Message: fmt.Sprintf("%q is not the address of a server", address),
			Do: "write http://host:port"}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, &Error{Code: CodeURL, Message: "the address of the server has a user, a query or a fragment",
			Do: "write http://host:port, and give the token by --token or HEAPDRIFT_TOKEN"}
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, &Error{Code: CodeToken, Message: "the token holds blanks or characters that no token has",
			Do: "copy it anew, without quotes and line ends"}
	}
	// A redirect would carry the token elsewhere, and a PATCH that is redirected would become a GET.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{root: strings.TrimRight(u.String(), "/"), token: token, http: &http.Client{CheckRedirect: stay},
		Pause: pause}, nil
}

// Page makes an address that the server gave relative to itself a full one.
func (c *Client) Page(relative string) string {
	if relative == "" || strings.Contains(relative, "://") {
		return relative
	}
	return c.root + relative
}

// A request is what is sent; body makes a new reader for each try, nil for none.
type request struct {
	method, path string
	header       map[string]string
	body         func() (io.Reader, int64)
	timeout      time.Duration // of one try; 0 for none
}

// An answer is what came back. Its body has been read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request, again and again where the connection or the server fails for a while, and returns an answer of
// 2xx.
func (c *Client) ask(ctx context.Context, r request) (*answer, error) {
	var tries attempts
	for {
		a, err := c.once(ctx, r)
		if err == nil {
			return a, nil
		}
		if err := tries.again(ctx, c, err); err != nil {
			return nil, err
		}
	}
}

// once sends a request once. Its error is a *Refusal where the server answered.
func (c *Client) once(ctx context.Context, r request) (*answer, error) {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	var body io.Reader = http.NoBody
	var size int64
	if r.body != nil {
		body, size = r.body()
	}
	request, err := c.request(ctx, r.method, r.path, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = size
	if size > 0 {
		request.Header.Set("Expect", "100-continue") // what is refused by its head alone is not sent
	}
	for name, value := range r.header {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil && r.method != http.MethodHead {
		return nil, fmt.Errorf("the answer was cut short: %w", err)
	}
	a := &answer{response.StatusCode, response.Header, text}
	if a.status < 200 || a.status > 299 {
		return a, refusalOf(a)
	}
	return a, nil
}

// request is one to the server, with the token.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.root+path, body)
	if err != nil {
		return nil, &Error{Code: CodeURL, Message: err.Error()}
	}
	r.Header.Set("User-Agent", "heapdrift-push")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

// decode reads the JSON of an answer. Fields that this version does not know are those of a newer server.
func (a *answer) decode(into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return &Error{Code: CodeNotHeapdrift, Message: "the server's answer is not understood",
			Do: "check that --url is the address of a heapdrift server", Err: err}
	}
	return nil
}

// A Refusal is an answer of the server that is no success.
type Refusal struct {
	Status     int
	Code       string // of problem details; "" where something else answered, such as a proxy
	Detail     string
	RetryAfter string
	Location   string // of a redirect
}

func refusalOf(a *answer) *Refusal {
	r := &Refusal{Status: a.status, RetryAfter: a.header.Get("Retry-After"), Location: a.header.Get("Location")}
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	var problem struct{ Code, Detail, Title string }
	if media == "application/problem+json" && json.Unmarshal(a.body, &problem) == nil {
		r.Code, r.Detail = problem.Code, problem.Detail
		if r.Detail == "" {
			r.Detail = problem.Title
		}
	} else if media == "text/plain" {
		r.Detail = string(bytes.TrimSpace(a.body[:min(len(a.body), 200)]))
	}
	return r
}

// Error says in a sentence what the server answered, and what to do where that is known.
func (r *Refusal) Error() string {
	status := fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
	said := ""
	if r.Code != "" || r.Detail != "" {
		said = ": " + strings.TrimPrefix(r.Code+": "+r.Detail, ": ")
	}
	switch {
	case r.Status == http.StatusUnauthorized:
		return "the server does not take the token, or asks for one (" + status + said +
			"): give a valid one by --token or HEAPDRIFT_TOKEN"
	case r.Status == http.StatusForbidden:
		return "the token may not do that here (" + status + said +
			"): it needs the scope upload in this project, and read for where in the code the leaks are"
	case r.Status >= 300 && r.Status < 400:
		return fmt.Sprintf("the server answers %s to %s: give that address by --url", status, r.Location)
	}
	return "the server answers " + status + said
}

// isRefused reports whether err is an answer of that status.
func isRefused(err error, status int) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Status == status
}
