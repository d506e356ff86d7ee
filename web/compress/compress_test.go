package compress_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"

	"heapdrift/web/compress"
)

// serve runs a server whose answers come from handle.
func serve(t testing.TB, handle echo.HandlerFunc) *httptest.Server {
	t.Helper()
	e := echo.New()
	e.Use(compress.Middleware)
	e.Any("/", handle)
	s := httptest.NewServer(e)
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

// ask sends a request with only the given headers, which are pairs of names and values.
func ask(t testing.TB, s *httptest.Server, method string, header ...string) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

// decode undoes the content coding of a body.
func decode(coding string, body []byte) ([]byte, error) {
	var r io.Reader = bytes.NewReader(body)
	var err error
	switch compress.Coding(coding) {
	case compress.Zstd:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r); err == nil {
			defer z.Close()
			r = z
		}
	case compress.Brotli:
		r = brotli.NewReader(r)
	case compress.Gzip:
		r, err = gzip.NewReader(r)
	case compress.Identity:
	default:
		err = errors.New("an unknown coding")
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// prose is text that repeats itself, as pages do.
func prose(rng *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<tr><td>module%d!Class%d::Function%d</td></tr>\n", rng.IntN(9), rng.IntN(99), rng.Uint32())
	}
	return b.Bytes()[:n]
}

// A step is what a handler does next: write so many bytes, or flush where there are none.
type step struct {
	write []byte
	flush bool
}

// steps are what a handler does for an answer, and its body.
func steps(rng *rand.Rand) (list []step, body []byte) {
	for range rng.IntN(6) {
		part := prose(rng, rng.IntN([]int{2, 100, 1100, 70_000}[rng.IntN(4)]))
		list = append(list, step{part, rng.IntN(4) == 0})
		body = append(body, part...)
	}
	return list, body
}

// Every client reads the same body under the same status, whatever a handler writes and in whatever pieces.
func TestBodyIsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var todo []step
	var status int
	var kind string
	var length int // −1 for none
	s := serve(t, func(c echo.Context) error {
		w := c.Response()
		w.Header().Set("Content-Type", kind)
		if length >= 0 {
			w.Header().Set("Content-Length", strconv.Itoa(length))
		}
		w.WriteHeader(status)
		for _, s := range todo {
			if _, err := w.Write(s.write); err != nil {
				return err
			}
			if s.flush {
				w.Flush()
			}
		}
		return nil
	})
	coded := 0
	for range 90 {
		var body []byte
		todo, body = steps(rng)
		status, length = []int{200, 200, 404, 503}[rng.IntN(4)], -1
		kind = []string{"text/html; charset=utf-8", "application/json", "text/csv", "application/octet-stream",
			"image/svg+xml", "text/event-stream"}[rng.IntN(6)]
		if rng.IntN(3) == 0 {
			length = len(body)
		}
		for _, test := range accepts {
			if strings.ContainsRune(test.header, 0) ||
				rng.IntN(8) > 0 && test.header != "zstd" && test.header != "br" && test.header != "gzip" {
				continue
			}
			res, got, err := ask(t, s, http.MethodGet, "Accept-Encoding", test.header)
			if err != nil {
				t.Fatal(err)
			}
			coding := res.Header.Get("Content-Encoding")
			plain, err := decode(coding, got)
			if err != nil || res.StatusCode != status || !bytes.Equal(plain, body) ||
				coding != "" && coding != string(test.want) {
				t.Fatalf("%q: %d, %q, %d bytes instead of %d, %v", test.header, res.StatusCode, coding, len(plain), len(body), err)
			}
			if coding != "" {
				coded++
			}
			varies := kind != "application/octet-stream" && kind != "text/event-stream"
			if (res.Header.Get("Vary") == "Accept-Encoding") != varies || res.Header.Get("Content-Type") != kind {
				t.Errorf("%s: %v", kind, res.Header)
			}
			head, none, err := ask(t, s, http.MethodHead, "Accept-Encoding", test.header)
			if err != nil || len(none) > 0 || head.StatusCode != status || head.Header.Get("Content-Encoding") != coding ||
				head.Header.Get("Vary") != res.Header.Get("Vary") {
				t.Errorf("HEAD: %v, %v; GET: %v", err, head.Header, res.Header)
			}
			if a, b := head.Header.Get("Content-Length"), res.Header.Get("Content-Length"); a != "" && b != "" && a != b {
				t.Errorf("HEAD says %s bytes, GET %s", a, b)
			}
		}
	}
	if coded < 100 {
		t.Errorf("only %d answers were compressed", coded)
	}
}

// Answers that are sent as they are, and why.
func TestSentAsItIs(t *testing.T) {
	page := prose(rand.New(rand.NewPCG(3, 4)), 20_000)
	for name, test := range map[string]struct {
		edit    func(h http.Header)
		request []string
		status  int
		bytes   int
		plain   bool
	}{
		"page":             {},
		"short":            {bytes: 1023, plain: true},
		"just long enough": {bytes: 1024},
		"evidence": {edit: func(h http.Header) { h.Set("Content-Type", "application/octet-stream") },
			plain: true},
		"archive": {edit: func(h http.Header) { h.Set("Content-Type", "application/gzip") }, plain: true},
		"table": {edit: func(h http.Header) { h.Set("Content-Type", "application/vnd.apache.parquet") },
			plain: true},
		"no type": {edit: func(h http.Header) { h.Del("Content-Type") }, plain: true},
		"problem": {edit: func(h http.Header) { h.Set("Content-Type", "application/problem+json") },
			status: 500},
		"coded by its handler": {edit: func(h http.Header) { h.Set("Content-Encoding", "zstd") }, plain: true},
		"served in ranges":     {edit: func(h http.Header) { h.Set("Accept-Ranges", "bytes") }, plain: true},
		"part": {edit: func(h http.Header) { h.Set("Content-Range", "bytes 0-19999/30000") },
			status: 206, plain: true},
		"page with a secret": {edit: func(h http.Header) { h.Set("Cache-Control", "no-store, no-transform") },
			plain: true},
		"page that is private":  {edit: func(h http.Header) { h.Set("Cache-Control", "private, no-cache") }},
		"range is asked for":    {request: []string{"Range", "bytes=0-9"}, plain: true},
		"another site asks":     {request: []string{"Sec-Fetch-Site", "cross-site"}, plain: true},
		"this site asks":        {request: []string{"Sec-Fetch-Site", "same-origin"}},
		"header in two lines":   {request: []string{"Accept-Encoding", "br;q=0.1"}},
		"a length is announced": {edit: func(h http.Header) { h.Set("Content-Length", "20000") }},
	} {
		t.Run(name, func(t *testing.T) {
			if test.status == 0 {
				test.status = 200
			}
			if test.bytes == 0 {
				test.bytes = len(page)
			}
			s := serve(t, func(c echo.Context) error {
				h := c.Response().Header()
				h.Set("Content-Type", "text/html; charset=utf-8")
				h.Set("ETag", `"7"`)
				if test.edit != nil {
					test.edit(h)
				}
				c.Response().WriteHeader(test.status)
				_, err := c.Response().Write(page[:test.bytes])
				return err
			})
			res, body, err := ask(t, s, http.MethodGet, append([]string{"Accept-Encoding", "gzip"}, test.request...)...)
			if err != nil || res.StatusCode != test.status {
				t.Fatal(err)
			}
			gzipped := res.Header.Get("Content-Encoding") == "gzip"
			if gzipped == test.plain || test.plain != bytes.Equal(body, page[:test.bytes]) {
				t.Errorf("%v, %d bytes", res.Header, len(body))
			}
			want := `W/"7"` // compressed, the tag stands for other bytes
			if test.plain {
				want = `"7"`
			}
			if tag := res.Header.Get("ETag"); tag != want {
				t.Errorf("the tag is %s, want %s", tag, want)
			}
		})
	}
}

func TestAnswersWithoutBody(t *testing.T) {
	for _, status := range []int{204, 304} {
		s := serve(t, func(c echo.Context) error {
			c.Response().Header().Set("Content-Type", "text/html")
			return c.NoContent(status)
		})
		if res, body, err := ask(t, s, http.MethodGet, "Accept-Encoding", "gzip"); err != nil || res.StatusCode != status ||
			len(body) > 0 || res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%d: %v %v", status, err, res)
		}
	}
	s := serve(t, func(c echo.Context) error { return nil })
	if res, body, err := ask(t, s, http.MethodGet, "Accept-Encoding", "gzip"); err != nil ||
		res.StatusCode != http.StatusOK || len(body) > 0 {
		t.Errorf("%v %v", err, res)
	}
}

// HTTP/1.0 knows no Vary and no chunks: such clients get the body as it is, to the connection's end.
func TestOldProtocol(t *testing.T) {
	page := prose(rand.New(rand.NewPCG(5, 6)), 50_000)
	s := serve(t, func(c echo.Context) error { return c.HTMLBlob(http.StatusOK, page) })
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(body, page) || len(res.TransferEncoding) > 0 ||
		res.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v, %d bytes, %v", err, len(body), res)
	}
}

// An answer that breaks off ends neither its coding nor its chunks, so no client takes it for whole.
func TestBrokenOff(t *testing.T) {
	page := prose(rand.New(rand.NewPCG(7, 8)), 300_000)
	for _, n := range []int{10, 2000, len(page)} {
		s := serve(t, func(c echo.Context) error {
			c.Response().Header().Set("Content-Type", "text/html")
			if _, err := c.Response().Write(page[:n]); err != nil {
				return err
			}
			panic(http.ErrAbortHandler)
		})
		for _, accept := range []string{"", "gzip", "br", "zstd"} {
			res, body, err := ask(t, s, http.MethodGet, "Accept-Encoding", accept)
			if err == nil {
				t.Errorf("%q, %d bytes: the answer looks whole", accept, n)
			}
			if res == nil {
				continue
			}
			if coding := res.Header.Get("Content-Encoding"); coding != "" {
				if plain, err := decode(coding, body); err == nil {
					t.Errorf("%q: %d bytes look whole", accept, len(plain))
				}
			}
		}
	}
}

// What a handler flushes arrives, though the handler goes on.
func TestFlush(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "text/plain"} {
		for _, accept := range []string{"gzip", "br", "zstd", "identity"} {
			seen := make(chan struct{})
			s := serve(t, func(c echo.Context) error {
				c.Response().Header().Set("Content-Type", kind)
				for range 3 {
					if _, err := c.Response().Write([]byte("data: x\n\n")); err != nil {
						return err
					}
					if err := http.NewResponseController(c.Response()).Flush(); err != nil {
						return err
					}
					<-seen
				}
				return nil
			})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept-Encoding", accept)
			res, err := s.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			var body io.Reader = res.Body
			switch res.Header.Get("Content-Encoding") {
			case "":
				if kind == "text/plain" && accept != "identity" {
					t.Errorf("%s is plain", accept)
				}
			case "gzip":
				body, err = gzip.NewReader(body)
			case "br":
				body = brotli.NewReader(body)
			case "zstd":
				body, err = zstd.NewReader(body)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				got := make([]byte, len("data: x\n\n"))
				if _, err := io.ReadFull(body, got); err != nil || string(got) != "data: x\n\n" {
					t.Fatalf("%s: %q, %v", accept, got, err)
				}
				seen <- struct{}{}
			}
			_ = res.Body.Close()
		}
	}
}

// A client that comes when all encoders are at work gets an answer as it is; later answers are compressed again.
func TestManyAtOnce(t *testing.T) {
	const clients = 50
	page := prose(rand.New(rand.NewPCG(9, 9)), 5000)
	begun, leave := make(chan struct{}, clients), make(chan struct{})
	s := serve(t, func(c echo.Context) error {
		c.Response().Header().Set("Content-Type", "text/html")
		if _, err := c.Response().Write(page); err != nil {
			return err
		}
		begun <- struct{}{}
		<-leave
		return nil
	})
	coded := make(chan bool, clients)
	for range clients {
		go func() {
			res, body, err := ask(t, s, http.MethodGet, "Accept-Encoding", "br")
			if err != nil {
				t.Error(err)
				coded <- false
				return
			}
			plain, err := decode(res.Header.Get("Content-Encoding"), body)
			if err != nil || !bytes.Equal(plain, page) {
				t.Errorf("%v, %d bytes", err, len(plain))
			}
			coded <- res.Header.Get("Content-Encoding") == "br"
		}()
	}
	for range clients {
		<-begun
	}
	close(leave)
	n := 0
	for range clients {
		if <-coded {
			n++
		}
	}
	if n != 32 {
		t.Errorf("%d of %d answers were compressed", n, clients)
	}
	if res, _, err := ask(t, s, http.MethodGet, "Accept-Encoding", "br"); err != nil ||
		res.Header.Get("Content-Encoding") != "br" {
		t.Errorf("afterwards: %v %v", err, res)
	}
}

func BenchmarkAnswers(b *testing.B) {
	page := prose(rand.New(rand.NewPCG(1, 1)), 267_000)
	handle := compress.Middleware(func(c echo.Context) error { return c.HTMLBlob(http.StatusOK, page) })
	for _, accept := range []string{"", "zstd", "br", "gzip"} {
		b.Run("accept="+accept, func(b *testing.B) {
			e := echo.New()
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
				r.Header.Set("Accept-Encoding", accept)
				w := httptest.NewRecorder()
				if err := handle(e.NewContext(r, w)); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(w.Body.Len())/1024, "KB/answer")
			}
		})
	}
}
