// Package markup reads the XML that Windows tools write, which is not always well-formed, may be stored in UTF-16 or a
// code page, and may be hostile. In come bytes, out go XML tokens, one in memory at a time, or text in UTF-8; IsMarkup
// tells an error of the markup from one of the source.
package markup

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// The limits on markup. What VMMap and Application Verifier write is five elements deep at most, and its longest texts
// are paths and frames.
const (
	maxToken = 1 << 20 // bytes
	maxDepth = 100
)

// errTooLong and errTooDeep end the reading of markup that no tool has written.
var (
	errTooLong = fmt.Errorf("an element is longer than %d bytes", maxToken)
	errTooDeep = fmt.Errorf("elements lie deeper than %d in each other", maxDepth)
)

// Elements walks through the markup of a file, one token in memory at a time. Entities of a document type are not
// expanded.
type Elements struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Read
	src   *UTF8Reader
	dec   *xml.Decoder
	since int // bytes read since the token before
	depth int
	count int
}

// NewElements begins at the first token of a file.
func NewElements(ctx context.Context, r io.Reader) *Elements {
	e := &Elements{ctx: ctx, src: NewUTF8Reader(r)}
	e.dec = xml.NewDecoder(e)
	e.dec.Strict = false                                                                     // paths and names have "<" and "&" in them
	e.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // text has seen to it
	return e
}

// Read implements io.Reader for the decoder: it passes the text on, as far as a token may be long.
func (e *Elements) Read(p []byte) (int, error) {
	if e.ctx.Err() != nil {
		return 0, context.Cause(e.ctx)
	}
	if e.since > maxToken {
		return 0, errTooLong
	}
	n, err := e.src.Read(p)
	e.since += n
	return n, err
}

// Next returns the next token; io.EOF after the last.
func (e *Elements) Next() (xml.Token, error) {
	if e.count++; e.count%4096 == 0 && e.ctx.Err() != nil { // one read may bring thousands of tokens
		return nil, context.Cause(e.ctx)
	}
	e.since = 0
	token, err := e.dec.RawToken()
	switch token.(type) {
	case xml.StartElement:
		e.depth++
	case xml.EndElement:
		e.depth = max(0, e.depth-1)
	}
	if err == nil && e.depth > maxDepth {
		err = errTooDeep
	}
	return token, err
}

// Depth is how many elements are open.
func (e *Elements) Depth() int { return e.depth }

// Line is the line that has been reached, from 1.
func (e *Elements) Line() int64 {
	line, _ := e.dec.InputPos()
	return int64(line)
}

// IsMarkup reports whether err says that the markup is at fault and not the source it comes from.
func IsMarkup(err error) bool {
	var syntax *xml.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, errTooLong) || errors.Is(err, errTooDeep)
}
