package symsrv_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/symbols/symsrv"
)

// TestWait gives up a silent server once the run has no time left for it, and goes on with the next.
func TestWait(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	silent := serve(t, nil, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	other := serve(t, map[string]string{in + "app.pdb": right}, nil)
	opt := online(t, silent)
	opt.Allow = append(opt.Allow, other.host())
	opt.Limits.Wait, opt.Limits.Header = 100*time.Millisecond, time.Hour
	p := parse(t, "srv*"+silent.URL+";srv*"+other.URL, opt)
	run := symsrv.WithRunLimit(t.Context())
	if symsrv.WithRunLimit(run) != run {
		t.Error("a run within a run has time of its own")
	}

	found, tried, err := p.Find(run, app)
	if err != nil || found.Path == "" {
		t.Fatalf("%v: %+v", err, tried)
	}
	if tried[1].Result != symsrv.ResultOutOfTime || !strings.HasPrefix(tried[1].Place, silent.URL) ||
		!strings.Contains(tried[1].Detail, "HEAPDRIFT_SYMBOL_WAIT") {
		t.Errorf("%+v", tried)
	}
	asked := len(silent.asked)
	_, tried, _ = p.Find(run, symsrv.Identity{Name: "b.pdb", DebugID: key})
	if len(silent.asked) != asked || tried[1].Result != symsrv.ResultOutOfTime {
		t.Errorf("asked %d times more: %+v", len(silent.asked)-asked, tried)
	}
}

// TestWaitOfAnother joins the searches of two runs for one file: when the time of one run ends, the other still waits.
func TestWaitOfAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	came, give := make(chan struct{}, 100), make(chan struct{})
	slow := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index2.txt") {
			http.NotFound(rw, r)
			return
		}
		came <- struct{}{}
		select {
		case <-give:
			_, _ = rw.Write([]byte(right))
		case <-r.Context().Done():
		}
	})
	opt := online(t, slow)
	opt.Limits.Wait, opt.Limits.Header = 300*time.Millisecond, time.Hour
	p := parse(t, "srv*"+slow.URL, opt)
	var first sync.WaitGroup
	first.Go(func() {
		if _, tried, err := p.Find(symsrv.WithRunLimit(t.Context()), app); err == nil {
			t.Errorf("found: %+v", tried)
		}
	})
	<-came
	found := make(chan error, 1)
	go func() {
		_, _, err := p.Find(t.Context(), app) // without bounds
		found <- err
	}()
	first.Wait()
	close(give)
	if err := <-found; err != nil {
		t.Error(err)
	}
}

// TestAnswerBeforeTheTimeEnds keeps what a server has answered, though the run's time for it ends before the answer's
// last byte.
func TestAnswerBeforeTheTimeEnds(t *testing.T) {
	slow := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index2.txt") {
			http.NotFound(rw, r)
			return
		}
		rw.WriteHeader(http.StatusNotFound)
		_, _ = rw.Write([]byte("there is "))
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	})
	opt := online(t, slow)
	opt.Limits.Wait, opt.Limits.Header = 100*time.Millisecond, time.Hour
	p := parse(t, "srv*"+slow.URL, opt)
	_, tried, _ := p.Find(symsrv.WithRunLimit(t.Context()), app)
	if len(tried) < 2 || !strings.HasPrefix(tried[1].Place, slow.URL) || tried[1].Result != symsrv.ResultNotFound {
		t.Errorf("%+v", tried)
	}
}
