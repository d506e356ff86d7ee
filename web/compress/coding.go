package compress

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Coding is a value of Content-Encoding.
type Coding string

// The codings that are written. Identity is a body as it is, which no header names.
const (
	Identity Coding = ""
	Zstd     Coding = "zstd"
	Brotli   Coding = "br"
	Gzip     Coding = "gzip"
)

// Codings are the codings of answers that are compressed while they are sent, the best for the server first. At these
// levels pages come out alike within a twentieth, and zstd takes the least time.
var Codings = []Coding{Zstd, Brotli, Gzip}

// maxEncoders bounds the memory of encoders, each of which holds 1 to 3 MB for as long as its client takes to receive
// the answer. Who comes when all are taken gets a plain answer.
const maxEncoders = 32

// window is how far back an encoder looks for what repeats, in bytes. A larger one shortens pages by nothing.
const window = 1 << 19

// An encoder writes a coding. After Close or an error, Reset makes it as new.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

var (
	taken    = make(chan struct{}, maxEncoders)
	encoders = map[Coding]*sync.Pool{
		Zstd: {New: func() any {
			w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
				zstd.WithWindowSize(window))
			if err != nil {
				panic(err) // the options are constants
			}
			return w
		}},
		Brotli: {New: func() any { return brotli.NewWriterOptions(nil, brotli.WriterOptions{Quality: 3, LGWin: 19}) }},
		Gzip:   {New: func() any { return gzip.NewWriter(nil) }},
	}
)

// acquire returns an encoder that writes to w, or nil where too many are at work.
func acquire(coding Coding, w io.Writer) encoder {
	select {
	case taken <- struct{}{}:
	default:
		return nil
	}
	e := encoders[coding].Get().(encoder)
	e.Reset(w)
	return e
}

// release gives an encoder back. It holds on to nothing of its answer.
func release(coding Coding, e encoder) {
	e.Reset(nil)
	encoders[coding].Put(e)
	<-taken
}

// Smallest compresses a body that is stored as far as the coding can. It takes 10 to 20 ms for 50 KB.
func Smallest(coding Coding, body []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case Zstd:
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
			zstd.WithWindowSize(window))
	case Brotli:
		w = brotli.NewWriterLevel(&b, 9) // 11 takes twenty times as long for a tenth less
	case Gzip:
		w, err = gzip.NewWriterLevel(&b, gzip.BestCompression)
	default:
		return body
	}
	if err == nil {
		_, err = w.Write(body)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // the options are constants, and a buffer takes everything
	}
	return b.Bytes()
}
