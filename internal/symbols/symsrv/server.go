package symsrv

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// A server is a symbol server, and what was learned about it.
type server struct {
	base *url.URL // without a slash at its end
	name string   // for people: no password, no query

	mu      sync.Mutex
	tiers   tiers
	until   time.Time // it is down: nobody asks before
	because string
}

type tiers int

const (
	tiersUnknown tiers = iota
	flatTiers          // no index2.txt
	twoTiers           // index2.txt is there
	flatOnly           // it has answered name/KEY/file, so na/name/KEY/file need not be tried
)

// server asks a server for the file and keeps it in the leftmost of the stores that can be written to, or in the
// default downstream store.
func (s *search) server(ctx context.Context, sv *server, stores []string) (LocalFile, bool) {
	place := sv.at(s.want.Name, s.want.Key())
	if !s.path.opt.allowed(sv.base) {
		s.note(shown(place), ResultNotAllowed, "it was not asked: "+notAllowed(sv.base.Host))
		return LocalFile{}, false
	}
	layout := s.tiersOf(ctx, sv)
	if because, down := sv.down(); down {
		s.note(shown(place), ResultFailed, "the server could not be reached and is left alone for a while: "+because)
		return LocalFile{}, false
	}
	misses := folderMisses{s: s}
	defer misses.flush()
	for _, q := range s.questions(layout) {
		if ctx.Err() != nil {
			return LocalFile{}, false
		}
		u := sv.at(q.way...)
		r, home := s.ask(ctx, u, q.form, stores)
		if r.result != ResultFound {
			file := len(q.way) - 1
			misses.add(shown(sv.at(q.way[:file]...)), q.way[file], r)
			if r.down && ctx.Err() == nil {
				sv.fell(r.detail, s.path.opt.Limits.Down)
			}
			if r.result == ResultOutOfTime {
				s.waits = append(s.waits, u.Host)
			}
			if r.giveUp {
				return LocalFile{}, false
			}
			continue
		}
		misses.flush()
		if found, ok := s.received(ctx, u, q.form, r.file, home, stores); ok {
			if layout == flatTiers && len(q.way) == 3 {
				sv.learned(flatOnly)
			}
			return found, true
		}
	}
	return LocalFile{}, false
}

// folderMisses gathers what a server said of the files in one folder, to note it as one attempt.
type folderMisses struct {
	s       *search
	folder  string
	result  Result
	details []string
}

func (m *folderMisses) add(folder, file string, r reply) {
	if folder != m.folder || r.result != m.result {
		m.flush()
	}
	m.folder, m.result = folder, r.result
	m.details = append(m.details, file+": "+r.detail)
}

func (m *folderMisses) flush() {
	if len(m.details) > 0 {
		m.s.note(m.folder, m.result, strings.Join(m.details, ", "))
	}
	m.details = nil
}

// ask fetches a file into the staging folder of the first store that can be written to, and returns that store.
func (s *search) ask(ctx context.Context, u *url.URL, form Form, stores []string) (reply, string) {
	limit := s.path.opt.Limits.MaxBytes
	if form == FormPointer {
		limit = min(limit, maxPointer)
	}
	home := ""
	r := s.path.fetch(ctx, u, limit, func() (*os.File, error) {
		err := errNoStore
		for _, root := range append(stores[:len(stores):len(stores)], s.path.opt.Cache) {
			if root == "" {
				continue
			}
			var work *os.File
			if work, err = newWork(root); err == nil {
				home = root
				return work, nil
			}
		}
		return nil, err
	})
	return r, home
}

// received judges a file that came from a server.
func (s *search) received(ctx context.Context, u *url.URL, form Form, file, home string,
	stores []string) (LocalFile, bool) {
	defer func() { _ = os.Remove(file) }() // gone, if it was kept
	if form == FormPointer {
		return s.follow(ctx, shown(u), file, true, origin{stores: stores})
	}
	found, ok := s.accept(ctx, candidate{place: shown(u), path: file, home: home}, origin{stores: stores})
	if last := s.attempts[max(len(s.attempts)-1, 0):]; !ok && len(last) > 0 && last[0].Result == ResultMismatch {
		// It would be fetched again for every run that wants it, and be as wrong.
		s.path.missing.add(u.String(), ResultMismatch, last[0].Detail)
	}
	return found, ok
}

// tiersOf returns a server's layout, asking for index2.txt the first time; those who come meanwhile wait for the
// answer. An error leaves the layout unknown.
func (s *search) tiersOf(ctx context.Context, sv *server) tiers {
	if _, down := sv.down(); down || sv.layout() != tiersUnknown {
		return sv.layout()
	}
	u := sv.at(indexName)
	t, err := s.path.indexes.do(ctx, u.String(), func(ctx context.Context) tiers {
		r := s.path.fetch(ctx, u, s.path.opt.Limits.MaxBytes, func() (*os.File, error) { return nil, errIndexPresent })
		switch {
		case ctx.Err() != nil: // nobody waits any more, which says nothing of the server
		case r.down:
			sv.fell(r.detail, s.path.opt.Limits.Down)
		case r.result == ResultNotFound, r.result == ResultRefused && !r.giveUp:
			sv.learned(flatTiers)
		case r.detail == errIndexPresent.Error():
			sv.learned(twoTiers)
		}
		return sv.layout()
	})
	if err != nil {
		return tiersUnknown // the context has ended
	}
	return t
}

// errIndexPresent keeps index2.txt from being written anywhere: it is there, which is all that it says.
var errIndexPresent = errors.New("index2.txt is there")

// at returns the URL at the way below the server's; its query, a signature perhaps, stays.
func (sv *server) at(way ...string) *url.URL {
	u := *sv.base
	escaped := u.EscapedPath()
	for _, part := range way {
		u.Path += "/" + part
		escaped += "/" + url.PathEscape(part)
	}
	u.RawPath = escaped
	return &u
}

func (sv *server) layout() tiers {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	return sv.tiers
}

func (sv *server) learned(t tiers) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	sv.tiers = t
}

// fell remembers that the server could not be reached.
func (sv *server) fell(because string, pause time.Duration) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	sv.until, sv.because = time.Now().Add(pause), because
}

// down tells whether the server could not be reached a moment ago, and why.
func (sv *server) down() (because string, down bool) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	return sv.because, time.Now().Before(sv.until)
}
