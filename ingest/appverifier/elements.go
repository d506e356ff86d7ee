package appverifier

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// The limits on markup. Logs are five elements deep, and their longest text is a frame.
const (
	maxToken = 1 << 20 // bytes
	maxDepth = 100
)

// errTooLong and errTooDeep end the reading of markup that no tool has written.
var (
	errTooLong = fmt.Errorf("an element is longer than %d bytes", maxToken)
	errTooDeep = fmt.Errorf("elements lie deeper than %d in each other", maxDepth)
)

// elements walks through the markup of a file, one token in memory at a time. Entities of a document type are not expanded.
type elements struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Read
	src   *text
	dec   *xml.Decoder
	since int // bytes read since the token before
	depth int
	count int
}

func newElements(ctx context.Context, r io.Reader) *elements {
	e := &elements{ctx: ctx, src: newText(r)}
	e.dec = xml.NewDecoder(e)
	e.dec.Strict = false                                                                     // names have "<" and "&" in them
	e.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // text has seen to it
	return e
}

// Read passes the text on to the decoder, as far as a token may be long.
func (e *elements) Read(p []byte) (int, error) {
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

// next returns the next token.
func (e *elements) next() (xml.Token, error) {
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

func (e *elements) line() int64 {
	line, _ := e.dec.InputPos()
	return int64(line)
}

// isMarkup reports whether err says that the markup is at fault and not the source it comes from.
func isMarkup(err error) bool {
	var syntax *xml.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, errTooLong) || errors.Is(err, errTooDeep)
}
