package pagestest

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// Fill posts a form as browsers do; pairs are names and values. It returns the status, and the body or the address of a
// redirect.
func (s *Server) Fill(path string, pairs ...string) (int, string) {
	s.T.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return s.Submit(path, form)
}

// Get returns the status and the body of a page; header holds pairs of names and values.
func (s *Server) Get(path string, header ...string) (int, string) {
	s.T.Helper()
	req := Must[*http.Request](s.T)(http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.URL+path, http.NoBody))
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.Send(req)
}

// Send returns the status and the body of the answer to a request, or the address that the answer redirects to.
func (s *Server) Send(req *http.Request) (int, string) {
	s.T.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body := string(Must[[]byte](s.T)(io.ReadAll(res.Body)))
	if location := res.Header.Get("Location"); location != "" {
		body = location
	}
	return res.StatusCode, body
}

// Page returns a page that must be there.
func (s *Server) Page(path string, header ...string) string {
	s.T.Helper()
	status, body := s.Get(path, header...)
	if status != http.StatusOK {
		s.T.Fatalf("GET %s: %d\n%s", path, status, body)
	}
	return body
}

// Submit sends a form as browsers do.
func (s *Server) Submit(path string, form url.Values, header ...string) (int, string) {
	s.T.Helper()
	req := Must[*http.Request](s.T)(http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.URL+path,
		strings.NewReader(form.Encode())))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.Send(req)
}

// SitesPath is the path of the table of a run's single sites, with a query.
func SitesPath(run int64, query string) string {
	return strings.TrimSuffix(fmt.Sprintf("/runs/%d?view=sites&%s", run, strings.TrimPrefix(query, "?")), "&")
}

// A FormPart is a field, or a file where it has a name.
type FormPart struct{ Field, File, Content string }

// PostTo sends a form with files as a browser without scripts does.
func (s *Server) PostTo(path string, parts ...FormPart) (int, string) {
	s.T.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		if p.File == "" && p.Field != "file" {
			_ = form.WriteField(p.Field, p.Content)
			continue
		}
		w, _ := form.CreateFormFile(p.Field, p.File)
		_, _ = w.Write([]byte(p.Content))
	}
	_ = form.Close()
	req := Must[*http.Request](s.T)(http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.URL+path, &b))
	req.Header.Set("Content-Type", form.FormDataContentType())
	return s.Send(req)
}
