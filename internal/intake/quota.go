package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/accounts"
	"heapdrift/internal/blob"
	"heapdrift/internal/store/accountstore"
)

// ErrNoSpace says that the server's disk would be too full.
var ErrNoSpace = errors.New("intake: the server's disk is full")

// A QuotaError says that a token has sent as much as it may in a day.
type QuotaError struct {
	Quota int64     // bytes a day
	Until time.Time // when the next day begins
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("intake: the token may send %s a day, which is used up until %s", quantity.Bytes(e.Quota),
		e.Until.Format(time.RFC3339))
}

// CheckQuota returns an error unless so many bytes more may come from whoever a context is about: ErrNoSpace, or a
// *QuotaError.
func (in *Intake) CheckQuota(ctx context.Context, bytes int64) error {
	if err := in.space(bytes); err != nil {
		return err
	}
	return in.quota(ctx, bytes)
}

// space returns ErrNoSpace where so many bytes more would leave too little of the disk free.
func (in *Intake) space(bytes int64) error {
	if free, known := blob.Free(in.Blobs); known && in.MinFree > 0 && free-bytes < in.MinFree {
		return ErrNoSpace
	}
	return nil
}

// quota returns a *QuotaError where so many bytes more are too many for the token of a context.
func (in *Intake) quota(ctx context.Context, bytes int64) error {
	token := accounts.ActorFrom(ctx).Token
	if token == 0 || in.TokenQuota <= 0 {
		return nil
	}
	sent, until, err := accountstore.FindTokenTraffic(ctx, in.Store, token)
	if err == nil && sent+bytes > in.TokenQuota {
		err = &QuotaError{in.TokenQuota, until}
	}
	return err
}

// checkEvery is how many bytes of a body pass between two checks of disk and quota.
const checkEvery = 64 << 20

// A meteredBody is a body of unknown length, and checks disk and quota while it is read.
type meteredBody struct {
	io.Reader
	check  func(bytes int64) error
	passed int64
	next   int64 // of passed, at which it looks
}

func (m *meteredBody) Read(p []byte) (int, error) {
	if m.passed >= m.next {
		if err := m.check(m.passed); err != nil {
			return 0, err
		}
		m.next = m.passed + checkEvery
	}
	n, err := m.Reader.Read(p)
	m.passed += int64(n)
	return n, err
}

// meter has a body watched. What has passed lies on the disk already, and has not been counted as sent yet.
func (in *Intake) meter(ctx context.Context, body io.Reader) io.Reader {
	return &meteredBody{Reader: body, check: func(passed int64) error {
		if err := in.space(0); err != nil {
			return err
		}
		return in.quota(ctx, passed)
	}}
}

// sent counts what has come, and what a token has sent.
func (in *Intake) sent(ctx context.Context, bytes int64) error {
	if in.Taken != nil {
		in.Taken(bytes)
	}
	if token := accounts.ActorFrom(ctx).Token; token != 0 && in.TokenQuota > 0 {
		return accountstore.UpdateTokenTraffic(ctx, in.Store, token, bytes)
	}
	return nil
}
