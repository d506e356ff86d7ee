package push

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"heapdrift/ingest/sorting"
	"heapdrift/internal/leaks"
)

// atOnce is how many files are on their way at once: two keep a line busy while the server stores one of them.
const atOnce = 2

// A Plan says which files to upload, and where they belong.
type Plan struct {
	Target   leaks.UploadTarget // its Work is not used: each File has its own
	Evidence []File
	Symbols  []File
}

// A File is a file to upload.
type File struct {
	Path  string
	Bytes int64
	Work  *float64 // work that the process had done when the file was taken; nil where unknown
	// Sought says that the file was found by a pattern or in a folder: it is no failure if the server refuses it as
	// symbols.
	Sought bool
}

// Stat reads the sizes of the plan's files, and returns an error for those that cannot be uploaded.
func (p *Plan) Stat() error {
	var wrong []error
	for _, list := range [][]File{p.Symbols, p.Evidence} {
		for i := range list {
			s, err := openSource(list[i].Path)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			list[i].Bytes = s.size
			s.close()
		}
	}
	return errors.Join(wrong...)
}

// Bytes is the size of all files together.
func (p *Plan) Bytes() (n int64) {
	for _, list := range [][]File{p.Symbols, p.Evidence} {
		for i := range list {
			n += list[i].Bytes
		}
	}
	return n
}

// An Outcome is what became of a file.
type Outcome string

// The outcomes of a file.
const (
	OutcomeSent    Outcome = "sent"
	OutcomeKnown   Outcome = "known"   // the server had it
	OutcomeRefused Outcome = "refused" // the server does not take it
	OutcomeFailed  Outcome = "failed"
)

// A Watcher is told the progress of a push. Its methods are called for several files at the same time.
type Watcher interface {
	// Moved says how many bytes of a file the server has; the number may fall.
	Moved(f *File, at int64)
	// Ended says the outcome of a file. err is nil unless it failed or was refused.
	Ended(f *File, o Outcome, err error)
}

// Send uploads the plan's files, symbols first so that evidence has names when it is read, and completes the run. Where
// a file fails the others are sent nevertheless, so that one look at the log shows all that is wrong; the run is not
// completed then.
func (c *Client) Send(ctx context.Context, p *Plan, w Watcher) (*Run, error) {
	sent := &delivery{group: rand.Text()}
	if err := c.all(ctx, p.Symbols, w, func(ctx context.Context, f *File) (Outcome, error) {
		return c.sendSymbols(ctx, f, sent, func(at int64) { w.Moved(f, at) })
	}); err != nil {
		return nil, err
	}
	e := evidenceRun{client: c, target: p.Target, watcher: w, digests: map[string]string{}}
	files := slices.Clone(p.Evidence)
	sorting.Stable(files, func(a, b File) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if files[0].Bytes >= worthAsking {
		if err := e.findEarlier(ctx); err != nil {
			return nil, err
		}
	}
	// The first file, the smallest, says which run it is, and the run says what else the server has already.
	if err := errors.Join(c.all(ctx, files[:1], w, e.send), c.rest(ctx, files[1:], w, &e)); err != nil {
		return nil, err
	}
	if err := errors.Join(c.setAncestors(ctx, &p.Target), c.bindSymbols(ctx, &p.Target, sent)); err != nil {
		return nil, err
	}
	run, err := c.Complete(ctx, e.id)
	if err != nil {
		return nil, err
	}
	for _, f := range p.Evidence {
		if !run.holds(e.digests[f.Path]) {
			return nil, &Error{Code: CodeDigest, File: f.Path, Message: "what the server has of run " +
				strconv.FormatInt(run.ID, 10) + " is not what was read here",
				Do: "send it again; where it happens again, check whether a proxy changes what goes through it"}
		}
	}
	return run, nil
}

func (c *Client) rest(ctx context.Context, files []File, w Watcher, e *evidenceRun) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if e.before == nil && e.id != 0 && len(files) > 0 {
		run, err := c.Run(ctx, e.id)
		if err != nil && !isRefused(err, http.StatusForbidden) { // a token that may not read sends everything
			return err
		}
		e.before = run
	}
	return c.all(ctx, files, w, e.send)
}

// all sends files, a few at once. It returns all that failed.
func (c *Client) all(ctx context.Context, files []File, w Watcher,
	send func(context.Context, *File) (Outcome, error)) error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	failures := make([]error, len(files))
	var given sync.Once
	stopped, stop := context.WithCancel(ctx)
	defer stop()
	for i := range files {
		f := &files[i]
		group.Go(func() error {
			select {
			case <-stopped.Done():
				return nil
			default:
			}
			outcome, err := send(ctx, f)
			outcome, failed := judged(f, outcome, err)
			w.Ended(f, outcome, err)
			if failed {
				failures[i] = err
				if isHopeless(err) { // what one file met, all will
					given.Do(stop)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // failures has what failed
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failures...)
}

// judged is what became of a file, and whether that is a failure.
func judged(f *File, o Outcome, err error) (outcome Outcome, failed bool) {
	var refused *Refusal
	switch {
	case err == nil:
		return o, false
	case errors.As(err, &refused) &&
		(refused.Status == http.StatusUnsupportedMediaType || refused.Status == http.StatusUnprocessableEntity ||
			refused.Status == http.StatusRequestEntityTooLarge):
		return OutcomeRefused, !f.Sought
	}
	return OutcomeFailed, true
}

// hopeless are answers about who asks, and not about a file.
var hopeless = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest}

// isHopeless reports whether other files will meet the same.
func isHopeless(err error) bool {
	var own *Error
	if errors.As(err, &own) {
		return own.Code == CodeUnreachable || own.Code == CodeNotHeapdrift || own.Code == CodeNoProject
	}
	var refused *Refusal
	return errors.As(err, &refused) && (slices.Contains(hopeless, refused.Status) || refused.Status/100 == 3)
}

// evidenceRun is the run that evidence is sent to.
type evidenceRun struct {
	client  *Client
	target  leaks.UploadTarget
	watcher Watcher
	before  *Run // as an earlier push left it, or as it was when the first file was there; nil before

	mu      sync.Mutex
	id      int64
	digests map[string]string // by path
}

// send sends a file of evidence unless the run has it.
func (e *evidenceRun) send(ctx context.Context, f *File) (Outcome, error) {
	s, err := openSource(f.Path)
	if err != nil {
		return "", err
	}
	defer s.close()
	digest, err := s.digest(ctx)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	e.digests[f.Path] = digest
	e.mu.Unlock()
	name := filepath.Base(f.Path)
	if e.before != nil && f.Work == nil && e.before.has(name, digest) {
		return OutcomeKnown, nil
	}
	a, err := e.client.upload(ctx, s, e.metadata(f, name), func(at int64) { e.watcher.Moved(f, at) })
	if err != nil {
		return "", err
	}
	id, err := strconv.ParseInt(a.header.Get("X-Heapdrift-Run"), 10, 64)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil || id <= 0:
		return "", &Error{Code: CodeNotHeapdrift, File: f.Path,
			Message: "the server does not say which run the file belongs to",
			Do:      "check that --url is the address of a heapdrift server"}
	case e.id != 0 && e.id != id:
		return "", &Error{Code: CodeNotHeapdrift, File: f.Path,
			Message: fmt.Sprintf("the server puts the file into run %d, and the one before into run %d", id, e.id)}
	}
	e.id = id
	return OutcomeSent, nil
}

// metadata are what the server is told about a file.
func (e *evidenceRun) metadata(f *File, name string) map[string]string {
	t := &e.target
	m := map[string]string{
		"project": t.Project, "build": t.Build, "scenario": t.Scenario, "run": t.Run, "branch": t.Branch,
		"commit": t.Commit, "fork": t.Fork, "filename": name,
	}
	if t.Sequence != nil {
		m["sequence"] = strconv.FormatInt(*t.Sequence, 10)
	}
	if f.Work != nil {
		m["work"], m["work_unit"] = strconv.FormatFloat(*f.Work, 'g', -1, 64), t.WorkUnit
	}
	return m
}
