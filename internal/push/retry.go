package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"heapdrift/ingest/quantity"
)

// How often something is tried that gets nowhere, and how long the pauses in between are: the first, and the longest.
// Together they last about four minutes, longer than a server takes to be replaced.
const (
	maxTries     = 12
	firstPause   = time.Second
	longestPause = 30 * time.Second
	// longestAsked is the longest pause that a server may ask for by Retry-After.
	longestAsked = 5 * time.Minute
)

// attempts counts tries that got nowhere.
type attempts struct{ failed int }

// progressed starts the count anew: something came of the last try.
func (a *attempts) progressed() { a.failed = 0 }

// again waits before the next try and returns nil, or returns why there is none: it would end as this one did, or
// enough have failed.
func (a *attempts) again(ctx context.Context, c *Client, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	var refused *Refusal
	answered := errors.As(err, &refused)
	if answered && !refused.isPassing() {
		return err
	}
	a.failed++
	if a.failed >= cmp.Or(c.Tries, maxTries) {
		return &Error{Code: CodeUnreachable, Message: "the server fails after " + quantity.Plural(a.failed, "try"),
			Do: "check that --url reaches it from this machine", Err: err}
	}
	wait := min(firstPause<<(a.failed-1), longestPause)
	if answered {
		wait = max(wait, min(retryAfter(refused.RetryAfter, time.Now()), longestAsked))
	}
	if c.Note != nil {
		c.Note(fmt.Sprintf("%v; next try in %v", err, wait))
	}
	return c.Pause(ctx, wait)
}

// passing are answers that another try may not get: of a server that starts, stops or has too much to do, and of the
// proxies before it.
var passing = []int{
	http.StatusRequestTimeout, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

func (r *Refusal) isPassing() bool {
	return slices.Contains(passing, r.Status) || r.Code == "upload-broken"
}

// retryAfter reads a Retry-After header: seconds, or a date; 0 where it says nothing.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(longestAsked/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
