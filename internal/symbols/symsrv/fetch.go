package symsrv

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// A reply is what came of asking for one URL.
type reply struct {
	result Result // ResultFound, ResultNotFound, ResultRefused, ResultFailed
	detail string
	file   string // where the body was written, if ResultFound
	giveUp bool   // the server would say the same to every further question of this search
	down   bool   // the server cannot be reached, or wants to be left alone
	status int    // of HTTP, where the server answered
}

// fetch asks for a URL, again where that may help, and writes the body to a file made by create, which is called when
// there is something to write.
func (p *SymbolPath) fetch(ctx context.Context, u *url.URL, limit int64, create func() (*os.File, error)) reply {
	address := u.String()
	if known, ok := p.missing.when(address); ok {
		return reply{result: known.result, detail: known.detail + " (at " + known.at.UTC().Format("15:04 MST") +
			", not asked again yet)"}
	}
	if ledgerOf(ctx).isOver(u.Host, p.opt.Limits.Wait) {
		return p.waitedFor()
	}
	wait, accept := p.opt.Limits.Backoff, acceptMSFZ
	for try := 0; ; try++ {
		r, after, again := p.try(ctx, u, accept, limit, create)
		switch {
		case r.result == ResultNotFound:
			p.missing.add(address, ResultNotFound, r.detail)
		case r.status == http.StatusNotAcceptable && accept == acceptMSFZ:
			accept = acceptAll
			continue
		}
		if !again || ctx.Err() != nil {
			return r
		}
		if after > p.opt.Limits.MaxWait {
			r.down = true
			r.detail += fmt.Sprintf("; it asks to be left alone for %v", after)
			return r
		}
		if try == p.opt.Limits.Retries {
			if try > 0 {
				r.detail += fmt.Sprintf("; tried %d times", try+1)
			}
			return r
		}
		pause := max(after, wait/2+rand.N(wait/2+1)) // spread, so that many workers do not return at once
		wait = min(2*wait, p.opt.Limits.MaxWait)
		p.opt.Log.InfoContext(ctx, "symbol server asked again", "url", shown(u), "reason", r.detail, "after", pause)
		select {
		case <-time.After(pause):
			ledgerOf(ctx).spend(u.Host, pause)
			if ledgerOf(ctx).isOver(u.Host, p.opt.Limits.Wait) {
				return p.waitedFor()
			}
		case <-ctx.Done():
			return r
		}
	}
}

// An MSFZ container is about a fifth of its PDB's size. PerfView asks for it in these words on every request; a server
// that takes them to exclude everything else answers 406.
const (
	acceptMSFZ = "application/msfz0"
	acceptAll  = "*/*"
)

// try asks once. again says that a retry may help, not before after is over.
func (p *SymbolPath) try(ctx context.Context, u *url.URL, accept string, limit int64,
	create func() (*os.File, error)) (r reply, after time.Duration, again bool) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return reply{result: ResultFailed, detail: context.Cause(ctx).Error()}, 0, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, p.opt.Limits.Whole,
		fmt.Errorf("the request took longer than %v", p.opt.Limits.Whole))
	defer stop()
	limits := p.opt.Limits
	waiting := p.wait(ctx, u.Host, cancel)
	answered := false
	defer func() {
		if waiting.done(answered) && r.result == ResultFailed {
			r, after, again = p.waitedFor(), 0, false
		}
	}()
	watch := time.AfterFunc(limits.Header,
		func() { cancel(fmt.Errorf("the server did not answer within %v", limits.Header)) })
	defer watch.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return reply{result: ResultFailed, detail: reason(ctx, err), giveUp: true}, 0, false
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", accept)
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := p.client.Do(request)
	if err != nil {
		var redirected *redirectError
		if errors.As(err, &redirected) {
			return reply{result: ResultRefused, detail: redirected.why, giveUp: true}, 0, false
		}
		var kept *addressError
		if errors.As(err, &kept) {
			return reply{result: ResultRefused, detail: kept.Error(), giveUp: true}, 0, false
		}
		return reply{result: ResultFailed, detail: reason(ctx, err), giveUp: true, down: true}, 0, worthAsking(ctx, err)
	}
	defer response.Body.Close()
	answered = response.StatusCode < http.StatusInternalServerError
	if r, after, again, done := byStatus(response); done {
		// A short body is read to its end, so that the next question goes over the same connection.
		_, _ = io.CopyN(io.Discard, response.Body, maxPointer)
		return r, after, again
	}
	watch.Stop() // if it went off in this instant, reading fails
	watch = time.AfterFunc(limits.Stall, func() { cancel(fmt.Errorf("the server sent nothing for %v", limits.Stall)) })
	defer watch.Stop()
	return p.body(ctx, response, limit, create, func(n int) {
		watch.Reset(limits.Stall)
		waiting.received(n)
	})
}

// byStatus judges an answer by its header; done says that its body is of no use.
func byStatus(response *http.Response) (r reply, after time.Duration, again, done bool) {
	status := response.StatusCode
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return reply{result: ResultNotFound, detail: strconv.Itoa(status)}, 0, false, true
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout ||
		status >= 500 && status != http.StatusNotImplemented:
		// One file's answer may be broken while the others' are not; two of the codes speak of the server.
		down := status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
		return reply{result: ResultFailed, detail: shorten(response.Status), giveUp: true, down: down},
			retryAfter(response), true, true
	case status == http.StatusUnauthorized || status == http.StatusProxyAuthRequired:
		return reply{result: ResultRefused, detail: shorten(response.Status) + ": the server wants a login", giveUp: true},
			0, false, true
	case status != http.StatusOK: // 403 is what S3 says of missing files to those who may not list them
		return reply{result: ResultRefused, detail: shorten(response.Status), status: status}, 0, false, true
	case isHTML(response.Header.Get("Content-Type")):
		return reply{result: ResultRefused, detail: webPage, giveUp: true}, 0, false, true
	}
	return reply{}, 0, false, false
}

const webPage = "the server answered with a web page, perhaps to log in"

func isHTML(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// retryAfter reads how long the server wants to be left alone: seconds, or a date. (RFC 9110, 10.2.3)
func retryAfter(response *http.Response) time.Duration {
	value := strings.TrimSpace(response.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// reason says why a request failed: the cause where a time-out of ours ended it, and never a URL, which may be signed.
func reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return context.Cause(ctx).Error()
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the answer was cut short"
	}
	return err.Error()
}

// worthAsking tells whether a request that failed may succeed the next time.
func worthAsking(ctx context.Context, err error) bool {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return false // it took Limits.Whole, or the caller has no more time
	}
	var unknownHost *net.DNSError
	var certificate *tls.CertificateVerificationError
	var unwritten *writeError
	final := errors.As(err, &unknownHost) && unknownHost.IsNotFound || errors.As(err, &certificate) ||
		errors.As(err, &unwritten)
	return !final
}
