package symsrv

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// body writes an answer's body to a file.
func (p *SymbolPath) body(ctx context.Context, response *http.Response, limit int64, create func() (*os.File, error),
	alive func(int)) (r reply, after time.Duration, again bool) {
	if response.ContentLength > limit {
		return reply{result: ResultRefused, detail: fmt.Sprintf("the server announces %d bytes, more than the %d that are taken",
			response.ContentLength, limit)}, 0, false
	}
	var content io.Reader = &liveReader{response.Body, alive}
	switch encoding := strings.ToLower(response.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(content)
		if err != nil {
			return reply{result: ResultFailed, detail: reason(ctx, err), giveUp: true}, 0, !errors.Is(err, gzip.ErrHeader)
		}
		content = z
	default:
		return reply{result: ResultRefused,
			detail: fmt.Sprintf("the content is encoded as %.40q, which was not asked for", encoding)}, 0, false
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(content, head)
	head = head[:n]
	switch {
	case err != nil && !errors.Is(err, io.EOF) && (n == 0 || !errors.Is(err, io.ErrUnexpectedEOF)):
		failed := reply{result: ResultFailed, detail: reason(ctx, err), giveUp: true, down: ctx.Err() != nil}
		return failed, 0, worthAsking(ctx, err)
	case isHTML(http.DetectContentType(head)):
		return reply{result: ResultRefused, detail: webPage, giveUp: true}, 0, false
	}
	file, err := create()
	if err != nil {
		return reply{result: ResultFailed, detail: err.Error(), giveUp: true}, 0, false
	}
	err = copyBounded(ctx, fileWriter{file}, io.MultiReader(bytes.NewReader(head), content), limit)
	if err := finish(file, err); err != nil {
		var tooBig *tooBigError
		if errors.As(err, &tooBig) {
			return reply{result: ResultRefused, detail: tooBig.Error()}, 0, false
		}
		failed := reply{result: ResultFailed, detail: reason(ctx, err), giveUp: true, down: ctx.Err() != nil}
		return failed, 0, worthAsking(ctx, err)
	}
	return reply{result: ResultFound, file: file.Name()}, 0, false
}

// A liveReader reports that bytes came.
type liveReader struct {
	r     io.Reader
	alive func(int)
}

func (l *liveReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.alive(n)
	}
	return n, err
}

// A writeError tells a full disk from a broken connection.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

type fileWriter struct{ f *os.File }

func (w fileWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}
