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
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
)

// ErrNoSpace says that the file would leave less than MinFree on the server's disk.
var ErrNoSpace = errors.New("intake: the server's disk is full")

// A QuotaError says that a token has uploaded as much as it may in a day.
type QuotaError struct {
	Quota int64     // bytes a day
	Until time.Time // when the next day begins, UTC
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("intake: the token may send %s a day, which is used up until %s", quantity.Bytes(e.Quota),
		e.Until.Format(time.RFC3339))
}

// CheckQuota returns ErrNoSpace or a *QuotaError if the actor of the context may not upload so many bytes more, else
// nil. It reserves nothing: it refuses early what would be refused later.
func (in *Intake) CheckQuota(ctx context.Context, bytes int64) error {
	if err := in.CheckSpace(bytes); err != nil {
		return err
	}
	token := in.metered(ctx)
	if token == 0 {
		return nil
	}
	sent, until, err := accountstore.FindTokenTraffic(ctx, in.Store, token)
	if err == nil && sent+bytes > in.TokenQuota {
		err = &QuotaError{in.TokenQuota, until}
	}
	return err
}

// CheckSpace returns ErrNoSpace if so many bytes more would leave less than MinFree on the disk, else nil.
func (in *Intake) CheckSpace(bytes int64) error {
	if free, known := blob.FreeBytes(in.Blobs); known && in.MinFree > 0 && free-bytes < in.MinFree {
		return ErrNoSpace
	}
	return nil
}

// metered is the token of a context where its bytes have a quota; 0 for none.
func (in *Intake) metered(ctx context.Context) int64 {
	if in.TokenQuota <= 0 {
		return 0
	}
	return accounts.ActorFrom(ctx).TokenID
}

// ReserveQuota reserves so many bytes of the quota of the context's token before they arrive: several uploads at the
// same time cannot use the same rest of it. Its error is a *QuotaError where they are too many. Without a quota it
// returns the zero Traffic.
func (in *Intake) ReserveQuota(ctx context.Context, bytes int64) (store.Traffic, error) {
	token := in.metered(ctx)
	if token == 0 {
		return store.Traffic{}, nil
	}
	traffic, err := accountstore.ReserveTraffic(ctx, in.Store, token, bytes, in.TokenQuota)
	if errors.Is(err, accountstore.ErrTraffic) {
		_, until, err := accountstore.FindTokenTraffic(ctx, in.Store, token)
		return store.Traffic{}, errors.Join(err, &QuotaError{in.TokenQuota, until})
	}
	return traffic, err
}

// A Body is the content of a file that is being uploaded, with what is known of it beforehand.
type Body struct {
	io.Reader
	Bytes    int64 // length; 0 or less where unknown
	Reserved bool  // ReserveQuota has reserved Bytes
}

// What is reserved ahead of a body of unknown length: as much again as has come, within these bounds.
const (
	minReserve = 1 << 20
	maxReserve = 64 << 20
)

// checkEvery is how many bytes of a body pass between two checks of the disk.
const checkEvery = 64 << 20

// A meteredBody is a body that reserves its bytes while it is read, and checks the disk.
type meteredBody struct {
	io.Reader
	ctx     context.Context
	in      *Intake
	counted bool // by this body, in the quota of a token
	traffic []store.Traffic
	left    int64 // of what is reserved
	passed  int64
	next    int64 // of passed, at which it looks at the disk
}

// meter has a body watched. The bytes that it reserves are given back by settle.
func (in *Intake) meter(ctx context.Context, body io.Reader) (*meteredBody, error) {
	m := &meteredBody{Reader: body, ctx: ctx, in: in, counted: in.metered(ctx) != 0}
	known, ok := body.(Body)
	if !ok {
		return m, nil
	}
	m.counted = m.counted && !known.Reserved
	return m, m.reserve(known.Bytes)
}

// reserve takes so many bytes of the quota.
func (m *meteredBody) reserve(bytes int64) error {
	if !m.counted || bytes <= 0 {
		return nil
	}
	traffic, err := m.in.ReserveQuota(m.ctx, bytes)
	if err == nil {
		m.traffic, m.left = append(m.traffic, traffic), m.left+bytes
	}
	return err
}

func (m *meteredBody) Read(p []byte) (int, error) {
	if m.passed >= m.next {
		if err := m.in.CheckSpace(0); err != nil {
			return 0, err
		}
		m.next = m.passed + checkEvery
	}
	n, err := m.Reader.Read(p)
	if missing := int64(n) - m.left; m.counted && missing > 0 {
		ahead := max(missing, min(max(m.passed, minReserve), maxReserve))
		failed := m.reserve(ahead)
		var quota *QuotaError
		if errors.As(failed, &quota) { // what has come may fit where what may come does not
			failed = m.reserve(missing)
		}
		if failed != nil {
			return 0, failed
		}
	}
	m.left -= int64(n)
	m.passed += int64(n)
	return n, err
}

// settle gives back what was reserved: all of it, or what is beyond the bytes that were taken in.
func (m *meteredBody) settle(taken bool) error {
	if taken && m.in.Taken != nil {
		m.in.Taken(m.passed)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), recordTimeout)
	defer cancel()
	keep := int64(0)
	if taken {
		keep = m.passed
	}
	var failed error
	for _, traffic := range m.traffic {
		kept := min(keep, traffic.Bytes)
		keep -= kept
		failed = errors.Join(failed, accountstore.ReleaseTraffic(ctx, m.in.Store, traffic, kept))
	}
	m.traffic = nil
	return failed
}
