package symsrv

import (
	"context"
	"math"
	"net/http"
	"time"
)

// Options say what a symbol path may do and where its Windows directories lie. The zero value searches local
// directories and asks no server.
type Options struct {
	Map []PathMapping // where directories of the symbol path lie on this machine

	// Cache is the default downstream store: it is used for an empty level of a chain, for cache* without a directory,
	// and for a server without a store before it.
	Cache string

	// Missing is a directory that stores across restarts which files servers do not have; "" keeps that in memory only.
	Missing string

	// Allow lists the hosts that may be asked: "host" on any port, "host:port", "*.domain" for everything below a
	// domain, "*" for all. None means offline. If a known server keeps its files on other hosts, those are allowed with
	// it. Only a host that is named itself may be at an address of this machine or of its network, one below a named
	// domain at a private one.
	Allow []string

	// Proxy is host:port or a URL. If it is "", HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply.
	Proxy string

	// Check returns nil if the file at path is what was asked for, else why not. The path is of a whole, decompressed
	// file, under its own or a temporary name. A nil Check takes every file; files that merely have the right name are
	// then not copied into stores.
	Check func(ctx context.Context, path string, want Identity) error

	// Below also searches the folders below a plain directory, which debuggers do not, within Limits.BelowDepth and
	// Limits.BelowEntries. They are read once.
	Below bool

	// Client's Transport is used, if it has one; then Proxy and Limits.Connect have no effect.
	Client *http.Client

	// Log is told what the answer does not say; nil is not told.
	Log    Logger
	Limits Limits
}

// A Logger is a *slog.Logger, which the client, a program for CI jobs, does without.
type Logger interface {
	InfoContext(ctx context.Context, message string, args ...any)
	WarnContext(ctx context.Context, message string, args ...any)
}

type silent struct{}

func (silent) InfoContext(context.Context, string, ...any) {}
func (silent) WarnContext(context.Context, string, ...any) {}

// Limits limit the search for one file. A field that is 0 stands for the value at the beginning of its comment.
type Limits struct {
	Connect time.Duration // 10 s, for the connection, and again for TLS
	Header  time.Duration // 30 s, from the request to the answer's header
	Stall   time.Duration // 30 s, without a byte of the body
	Whole   time.Duration // 1 h, for one request
	Wait    time.Duration // 1 min, for one server in one run: see WithRunLimit

	Retries int           // 3 after the first try; negative for none
	Backoff time.Duration // 500 ms before the first retry, doubled for each further one
	MaxWait time.Duration // 30 s: no wait is longer, whatever Retry-After says
	Down    time.Duration // 30 s: how long a server is left alone after its last retry failed

	Redirects int           // 5
	Parallel  int           // 4 requests at a time
	MaxBytes  int64         // 8 GiB, of one file, decompressed
	Missing   time.Duration // 1 h: how long a missing file is not asked for again
	Named     int           // 256 files returned by FindByName

	BelowDepth   int // 12 levels of folders below a directory
	BelowEntries int // 200,000 files and folders below a directory; a search of them takes seconds
}

func (l Limits) withDefaults() Limits {
	defaultTo(&l.Connect, 10*time.Second)
	defaultTo(&l.Header, 30*time.Second)
	defaultTo(&l.Stall, 30*time.Second)
	defaultTo(&l.Whole, time.Hour)
	defaultTo(&l.Wait, time.Minute)
	defaultTo(&l.Retries, 3)
	defaultTo(&l.Backoff, 500*time.Millisecond)
	defaultTo(&l.MaxWait, 30*time.Second)
	defaultTo(&l.Down, 30*time.Second)
	defaultTo(&l.Redirects, 5)
	defaultTo(&l.Parallel, 4)
	defaultTo(&l.MaxBytes, 8<<30)
	defaultTo(&l.Missing, time.Hour)
	defaultTo(&l.Named, 256)
	defaultTo(&l.BelowDepth, 12)
	defaultTo(&l.BelowEntries, 200_000)
	l.Retries, l.Backoff = max(l.Retries, 0), max(l.Backoff, 0)
	l.MaxBytes = min(l.MaxBytes, math.MaxInt64-1) // one more is read to tell what is larger
	return l
}

func defaultTo[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
