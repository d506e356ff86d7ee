package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols"
)

const (
	tries     = 3
	maxAnswer = 64 << 20 // bytes of JSON: a zip of many files has many lines
)

// A symbolServer is a heapdrift server that symbols are sent to.
type symbolServer struct {
	root   string // without a slash at the end
	group  string // of the files of this command
	token  string // "" for none
	client *http.Client
	pause  time.Duration // before the second try
}

func newSymbolServer(address, group string) (*symbolServer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &usageError{"--url: write http://host:port"}
	}
	// Nobody is sent elsewhere with a file: a PUT that is redirected would become a GET.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &symbolServer{root: strings.TrimRight(u.String(), "/"), group: group, client: &http.Client{CheckRedirect: stay},
		pause: time.Second}, nil
}

// send sends one file unless the server has it.
func (s *symbolServer) send(ctx context.Context, f symbolCandidate) symbolOutcome {
	file, err := os.Open(f.path)
	if err != nil {
		return symbolOutcome{"failed", err.Error()}
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return symbolOutcome{"failed", err.Error()}
	}
	name := filepath.Base(f.path)
	form, err := symbolForm(f.path)
	if err != nil {
		return symbolOutcome{"failed", err.Error()}
	}
	if form == identifiable {
		id, err := symbols.Identify(ctx, name, file, info.Size())
		refused := evidence.Refusal(err)
		switch {
		case refused != nil:
			return symbolOutcome{"refused", refused.Code + ": " + refused.Sentence()}
		case err != nil:
			return symbolOutcome{"failed", err.Error()}
		}
		if s.has(ctx, id, info.Size()) {
			return symbolOutcome{"known", id.Key()}
		}
	}
	return s.put(ctx, file, name, info.Size())
}

// has reports whether the server has a file of that id and size. Where the server does not tell, the file is sent: the
// server accepts a file any number of times.
func (s *symbolServer) has(ctx context.Context, id symbols.Identity, size int64) bool {
	name := url.PathEscape(id.Name)
	response, err := s.do(ctx, http.MethodHead, "/symbols/"+name+"/"+id.Key()+"/"+name,
		func() (io.Reader, int64) { return http.NoBody, 0 })
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK && response.ContentLength == size
}

// put sends the file and says what the server answered.
func (s *symbolServer) put(ctx context.Context, file *os.File, name string, size int64) symbolOutcome {
	query := url.Values{"name": {name}, "group": {s.group}}
	response, err := s.do(ctx, http.MethodPut, "/api/v1/symbols?"+query.Encode(), func() (io.Reader, int64) {
		return io.NewSectionReader(file, 0, size), size
	})
	if err != nil {
		return symbolOutcome{"failed", err.Error()}
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return symbolOutcome{"failed", "the answer was truncated: " + err.Error()}
	}
	if response.StatusCode != http.StatusCreated {
		return refusal(response, text)
	}
	var answer symbolAnswer
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Modules) == 0 {
		return symbolOutcome{"failed", "unknown answer: check that the server is a heapdrift of this version"}
	}
	return answer.outcome()
}

// do sends a request, and again where the connection or a proxy failed.
func (s *symbolServer) do(ctx context.Context, method, path string,
	body func() (io.Reader, int64)) (*http.Response, error) {
	for try, pause := 1, s.pause; ; try, pause = try+1, 4*pause {
		r, size := body()
		request, err := http.NewRequestWithContext(ctx, method, s.root+path, r)
		if err != nil {
			return nil, err
		}
		request.ContentLength = size
		if s.token != "" {
			request.Header.Set("Authorization", "Bearer "+s.token)
		}
		if size > 0 {
			request.Header.Set("Expect", "100-continue") // what is refused by its size alone is not sent
		}
		response, err := s.client.Do(request)
		again := err != nil ||
			response.StatusCode >= http.StatusBadGateway && response.StatusCode <= http.StatusGatewayTimeout
		if !again || try == tries || ctx.Err() != nil {
			return response, err
		}
		if err == nil {
			_ = response.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
