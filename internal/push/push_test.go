package push_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
)

func digestOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Whatever happens to a connection, the server receives the file, and the client continues at the server's offset.
func TestUploadSurvives(t *testing.T) {
	patches := 0
	for _, test := range []struct {
		name   string
		before func(f *fakeServer, n int, w http.ResponseWriter, r *http.Request) bool
		pauses []time.Duration
		log    string // of the one file, joined by blanks
	}{
		{name: "nothing", log: "POST PATCH 0 POST"},
		{
			name: "cut in the middle",
			before: func(f *fakeServer, _ int, w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPatch || patches > 0 {
					return false
				}
				patches++
				f.take(f.uploads["U1"], r.Body, 40_000)
				cut(f.t, w)
				return true
			},
			pauses: []time.Duration{time.Second}, log: "POST PATCH 0 HEAD PATCH 40000 POST",
		},
		{
			name: "the last answer is lost",
			before: func(f *fakeServer, _ int, w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPatch || patches > 0 {
					return false
				}
				patches++
				f.take(f.uploads["U1"], r.Body, 0)
				cut(f.t, w)
				return true
			},
			pauses: []time.Duration{time.Second}, log: "POST PATCH 0 HEAD PATCH 100000 POST",
		},
		{
			name: "the server is away, and says for how long",
			before: func(_ *fakeServer, n int, w http.ResponseWriter, _ *http.Request) bool {
				switch n {
				case 1:
					w.WriteHeader(http.StatusBadGateway)
				case 2:
					w.Header().Set("Retry-After", "17")
					problem(w, http.StatusTooManyRequests, "too-many", "later")
				case 4:
					w.Header().Set("Retry-After", "86400")
					problem(w, http.StatusServiceUnavailable, "shutting-down", "later")
				default:
					return false
				}
				return true
			},
			pauses: []time.Duration{time.Second, 17 * time.Second, 5 * time.Minute},
			log:    "POST POST POST PATCH 0 HEAD PATCH 0 POST",
		},
		{
			name: "it stands elsewhere",
			before: func(f *fakeServer, _ int, _ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPatch && patches == 0 {
					patches++
					content := make([]byte, 100_000)
					for i := range content {
						content[i] = byte(i*7 + i/251 + len("a.txt"))
					}
					f.take(f.uploads["U1"], strings.NewReader(string(content)), 50_000)
				}
				return false
			},
			log: "POST PATCH 0 HEAD PATCH 50000 POST",
		},
		{
			name: "the upload is gone",
			before: func(f *fakeServer, _ int, _ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPatch && patches == 0 {
					patches++
					f.uploads["U1"] = nil
				}
				return false
			},
			log: "POST PATCH 0 POST PATCH 0 POST",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			patches = 0
			f := newFake(t)
			if test.before != nil {
				f.before = func(n int, w http.ResponseWriter, r *http.Request) bool { return test.before(f, n, w, r) }
			}
			c, pauses := f.client()
			p := files(t, map[string]int{"a.txt": 100_000})
			run, err := c.Send(t.Context(), p, &fileLog{})
			if err != nil || run.ID != 7 {
				t.Fatalf("run %v: %v", run, err)
			}
			if got, want := f.stored["a.txt"], digestOf(t, p.Evidence[0].Path); got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
			if !slices.Equal(*pauses, test.pauses) {
				t.Errorf("pauses %v, want %v", *pauses, test.pauses)
			}
			if log := strings.ReplaceAll(strings.Join(f.log, " "), "DELETE ", ""); log != test.log {
				t.Errorf("requests %s, want %s", log, test.log)
			}
		})
	}
}

// A server that stays unreachable is given up, with an error that says what to do.
func TestServerStaysAway(t *testing.T) {
	f := newFake(t)
	f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	c, pauses := f.client()
	p := files(t, map[string]int{"a.txt": 1000, "b.txt": 2000, "c.txt": 3000})
	_, err := c.Send(t.Context(), p, &fileLog{})
	var own *push.Error
	if !errors.As(err, &own) || own.Code != push.CodeUnreachable ||
		!strings.Contains(err.Error(), "502 Bad Gateway; check that --url") {
		t.Errorf("error %v", err)
	}
	if len(*pauses) < 11 || (*pauses)[10] != 30*time.Second {
		t.Errorf("pauses %v", *pauses)
	}
	if len(f.stored) > 0 || slices.Contains(f.log[len(f.log)-2:], "POST") {
		t.Errorf("the run was completed: %v", f.log)
	}
}

// A refusal for good is not tried again, and its reason is shown.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		status int
		code   string
		want   string
	}{
		{401, "no-token", "--token or HEAPDRIFT_TOKEN"},
		{403, "wrong-scope", "scope upload"},
		{415, "unknown-format", "unknown-format: it is a JPEG"},
		{421, "wrong-host", "wrong-host"},
		{308, "", "--url"},
	} {
		f := newFake(t)
		f.before = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", "https://elsewhere.example/")
			problem(w, test.status, test.code, "it is a JPEG")
			return true
		}
		c, pauses := f.client()
		w := &fileLog{}
		_, err := c.Send(t.Context(), files(t, map[string]int{"a.txt": 1000, "b.txt": 2000}), w)
		if err == nil || !strings.Contains(err.Error(), test.want) || len(*pauses) > 0 {
			t.Errorf("%d: %v after pauses %v, want %q", test.status, err, *pauses, test.want)
		}
		if one := w.ended["a.txt"]; (one == push.OutcomeRefused) != (test.status == 415) {
			t.Errorf("%d: outcome %q", test.status, one)
		}
	}
}

// A file that changes while it is sent is no evidence: its upload is deleted, and the run is not completed.
func TestFileChanges(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"grows": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more")
			return errors.Join(err, f.Close())
		},
		"shrinks":        func(path string) error { return os.Truncate(path, 10) },
		"is overwritten": func(path string) error { return os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			p := files(t, map[string]int{"a.txt": 3_000_000})
			f.before = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					if err := change(p.Evidence[0].Path); err != nil {
						t.Error(err)
					}
				}
				return false
			}
			c, pauses := f.client()
			_, err := c.Send(t.Context(), p, &fileLog{})
			var own *push.Error
			if !errors.As(err, &own) || own.Code != push.CodeChanged || len(*pauses) > 0 {
				t.Errorf("error %v after pauses %v", err, *pauses)
			}
			if len(f.stored) > 0 || len(f.uploads) > 0 || f.deleted != 1 {
				t.Errorf("left: %d stored, %d uploads, %d deleted", len(f.stored), len(f.uploads), f.deleted)
			}
		})
	}
}

// Files that the run already has are not sent again, except a small first one, which identifies the run.
func TestSecondPush(t *testing.T) {
	f := newFake(t)
	p := files(t, map[string]int{"a.txt": 1000, "b.txt": 2000, "c.txt": 3000})
	c, _ := f.client()
	for i, want := range []push.Outcome{push.OutcomeSent, push.OutcomeKnown} {
		w := &fileLog{}
		if _, err := c.Send(t.Context(), p, w); err != nil {
			t.Fatal(err)
		}
		if w.ended["a.txt"] != push.OutcomeSent || w.ended["b.txt"] != want || w.ended["c.txt"] != want {
			t.Errorf("push %d: %v", i+1, w.ended)
		}
	}
	if len(f.uploads) != 4 {
		t.Errorf("%d uploads", len(f.uploads))
	}
}

// The server has a file where it has these bytes under this name: the same bytes under another are another snapshot.
// What it could not read is sent again, and so is a file that says how much work was done.
func TestWhatIsKnown(t *testing.T) {
	for name, test := range map[string]struct {
		change func(f *fakeServer, p *push.Plan)
		want   push.Outcome
	}{
		"as it was":      {func(*fakeServer, *push.Plan) {}, push.OutcomeKnown},
		"digest in caps": {func(f *fakeServer, _ *push.Plan) { f.stored["b.txt"] = strings.ToUpper(f.stored["b.txt"]) }, push.OutcomeKnown},
		"another name": {func(f *fakeServer, _ *push.Plan) {
			f.stored["x.txt"] = f.stored["b.txt"]
			delete(f.stored, "b.txt")
		}, push.OutcomeSent},
		"other bytes":       {func(f *fakeServer, _ *push.Plan) { f.stored["b.txt"] = f.stored["a.txt"] }, push.OutcomeSent},
		"it was not read":   {func(f *fakeServer, _ *push.Plan) { f.failed = "b.txt" }, push.OutcomeSent},
		"with its own work": {func(_ *fakeServer, p *push.Plan) { p.Evidence[0].Work, p.Evidence[1].Work = new(1.0), new(1.0) }, push.OutcomeSent},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			p := files(t, map[string]int{"a.txt": 1000, "b.txt": 2000})
			c, _ := f.client()
			if _, err := c.Send(t.Context(), p, &fileLog{}); err != nil {
				t.Fatal(err)
			}
			test.change(f, p)
			w := &fileLog{}
			if _, err := c.Send(t.Context(), p, w); err != nil {
				t.Fatal(err)
			}
			if w.ended["b.txt"] != test.want {
				t.Errorf("%v, want %s", w.ended, test.want)
			}
		})
	}
}

// If the server has another digest than the file that was read, the push fails.
func TestDigestIsCompared(t *testing.T) {
	f := newFake(t)
	f.before = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/complete") {
			f.stored["a.txt"] = strings.Repeat("0", 64)
		}
		return false
	}
	c, _ := f.client()
	_, err := c.Send(t.Context(), files(t, map[string]int{"a.txt": 1000}), &fileLog{})
	var own *push.Error
	if !errors.As(err, &own) || own.Code != push.CodeDigest {
		t.Errorf("error %v", err)
	}
}

// An interrupted push leaves no unfinished upload and no completed run.
func TestInterrupt(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := f.client()
	w := &fileLog{moved: func(*push.File, int64) { cancel() }}
	_, err := c.Send(ctx, files(t, map[string]int{"a.txt": 5_000_000, "b.txt": 6_000_000}), w)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(f.uploads) > 0 || f.deleted != 1 || len(f.stored) > 0 {
		t.Errorf("left: %d uploads, %d deleted, %d stored", len(f.uploads), f.deleted, len(f.stored))
	}
}

// The token goes to the server alone, and to every request.
func TestToken(t *testing.T) {
	f := newFake(t)
	f.before = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("Authorization"); got != "Bearer hd_test" {
			t.Errorf("%s %s with %q", r.Method, r.URL.Path, got)
		}
		return false
	}
	c, _ := f.client()
	if _, err := c.Send(t.Context(), files(t, map[string]int{"a.txt": 10}), &fileLog{}); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][2]string{{"heapdrift", ""}, {"ftp://x", ""}, {"http://a:b@x", ""}, {"http://x?token=1", ""},
		{"http://x", "a b"}, {"http://x", "ä"}} {
		if _, err := push.NewClient(wrong[0], wrong[1]); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// The client asks for a pending verdict until the time is up, and no longer.
func TestVerdictWaits(t *testing.T) {
	f := newFake(t)
	n := 0
	f.verdict = func() string {
		if n++; n < 3 {
			return `{"gate":"pending","pending":2}`
		}
		return `{"gate":"failed","new":["sig1:a"]}`
	}
	c, pauses := f.client()
	told := 0
	v, err := c.AwaitVerdict(t.Context(), 7, push.Question{Baseline: "b0", FailOn: "new", Matters: "1MB/day"}, time.Hour, func(int) { told++ })
	if err != nil || v.Gate != outcome.GateFailed || len(v.New) != 1 || told != 2 ||
		len(*pauses) != 2 || f.wait[0] != "50s" || f.asked[0] != "baseline=b0&fail_on=new&matters=1MB%2Fday" {
		t.Errorf("verdict %+v, %v; told %d times, pauses %v, wait %v, asked %v", v, err, told, *pauses, f.wait, f.asked)
	}
	if !v.HasField("new") || v.HasField("matters") {
		t.Errorf("the answer %s has new and lacks matters", v.Text)
	}
	n = -1000
	if v, err = c.AwaitVerdict(t.Context(), 7, push.Question{}, 0, func(int) {}); err != nil || v.Gate != outcome.GatePending ||
		f.wait[3] != "0s" || f.asked[3] != "" {
		t.Errorf("verdict %+v, %v; wait %v, asked %v", v, err, f.wait, f.asked)
	}
}
