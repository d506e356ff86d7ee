package hdsnap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// Kind is that of captures of snapshots.
const Kind capture.Kind = "hdsnap"

// Write writes a snapshot. The header's zero process, host and time are filled in from the capture.
func Write(w io.Writer, h Header, c *capture.Capture) error {
	if len(c.Snapshots) != 1 || c.Shape != capture.ShapeSnapshot && c.Shape != capture.ShapeFacts {
		return fmt.Errorf("hdsnap: the capture holds %d snapshots; a file holds one", len(c.Snapshots))
	}
	h.Process.Name, h.Process.PID = cmp.Or(h.Process.Name, c.Process.Name), cmp.Or(h.Process.PID, c.Process.PID)
	h.Process.Bits, h.Host = cmp.Or(h.Process.Bits, c.Process.Bits), cmp.Or(h.Host, c.Process.Machine)
	head, err := h.append(nil)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("hdsnap: write: %w", err)
	}
	kept := *c
	kept.Kind = Kind
	return kept.Write(w)
}

// mostUnpacked is how many bytes a capture may unpack to. The 24 million blocks that a capture keeps at most take some
// 200 MB.
const mostUnpacked = 512 << 20

// Read reads a snapshot. The error is an *evidence.Error where it is damaged or r fails, and the context's when that
// ends.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	in := &counted{ctx: ctx, r: r}
	h, err := ReadHeader(in)
	if err != nil {
		return nil, in.errorOf(err)
	}
	c, err := capture.ReadWithin(in, mostUnpacked)
	switch {
	case err != nil && in.failed == nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &evidence.Error{Code: CodeDamaged, Offset: in.n, Message: "the snapshot is damaged", Err: err,
			Do: takeItAgain}
	case err != nil:
		return nil, in.errorOf(&evidence.Error{Code: CodeTruncated, Offset: in.n, Message: "the snapshot is cut short",
			Do: takeItAgain})
	case len(c.Snapshots) != 1 || c.Shape != capture.ShapeSnapshot && c.Shape != capture.ShapeFacts:
		return nil, &evidence.Error{Code: CodeDamaged, Offset: in.n, Do: takeItAgain,
			Message: fmt.Sprintf("the file holds %d snapshots; it must hold one", len(c.Snapshots))}
	}
	c.Kind, c.Process.Machine = Kind, cmp.Or(c.Process.Machine, h.Host)
	if h.Work != nil {
		c.Work = &capture.Work{Count: float64(*h.Work), Unit: h.WorkUnit}
	}
	return []*capture.Capture{c}, nil
}

// A counted reader knows where it is, and why it failed. It ends with its context.
type counted struct {
	ctx    context.Context // that of Read, which it does not outlive
	r      io.Reader
	n      int64
	failed error // of r, other than its end
}

func (c *counted) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		c.failed = context.Cause(c.ctx)
		return 0, c.failed
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		c.failed = err
	}
	return n, err
}

// errorOf prefers the context's error and that of the reader to what followed from them.
func (c *counted) errorOf(err error) error {
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case c.failed != nil:
		return &evidence.Error{Code: CodeReadFailed, Offset: c.n, Message: "reading the snapshot failed", Err: c.failed}
	}
	return err
}
