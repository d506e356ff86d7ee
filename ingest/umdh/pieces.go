package umdh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
)

// A piece is a part of a log that ends behind an LF, with the runs of lines that scan found in it. Only a piece without
// any LF, and the last one, end elsewhere.
type piece struct {
	text []byte
	last bool
	err  error // why the log ended, if not because it is over

	runs    []run
	entries []listedEntry
	stacks  []listedStack
	frames  []uint64
	scanned chan struct{} // one, when scan is done; nil where it is done before
}

// A run is lines of a piece, one behind the other, each of which scan took: from text[from] to text[to], with these
// entries and stacks of the piece.
type run struct {
	from, to            int
	lines               int64
	entries, entriesEnd int
	stacks, stacksEnd   int
}

// A listedEntry is an entry as the log has it: 32 bytes, two to a cache line.
type listedEntry struct {
	address             uint64
	id                  uint32
	requested, overhead uint32
	at                  uint32 // where its line begins in the text
	line                uint32 // of the run, from 1
}

// A listedStack is addresses that stand below an entry: frames[from:to], behind so many entries of the piece.
type listedStack struct {
	entries  int
	from, to int
}

// pieces cuts a log at line ends. If the log is longer than one piece, several goroutines read and scan pieces in
// parallel. The pieces are handed out in the order of the log.
type pieces struct {
	ctx  context.Context //nolint:containedctx // lives as long as one call of Read
	src  *textDecoder
	size int // of a piece in bytes

	mu    sync.Mutex
	carry []byte // behind the last LF that was read
	ended bool

	taken *piece // last
	order chan *piece
	free  chan *piece // nil while nobody works beside
	work  sync.WaitGroup
}

// mostWorkers bounds the goroutines that scan: who puts their pieces together keeps up with no more.
const mostWorkers = 4

func newPieces(ctx context.Context, src *textDecoder, size int) *pieces {
	if most := src.most(); most >= 0 {
		size = min(size, most+16) // never full, so that the end is seen
	}
	return &pieces{ctx: ctx, src: src, size: size}
}

// next gives the next piece, good until the call after. Behind the last one there is none.
func (s *pieces) next() *piece {
	if s.free == nil {
		if s.taken == nil {
			s.taken = &piece{}
		} else if workers := min(runtime.GOMAXPROCS(0), mostWorkers); workers > 1 {
			s.begin(workers)
			return s.next()
		}
		s.read(s.taken)
		s.taken.scan()
		return s.taken
	}
	if s.taken != nil {
		s.free <- s.taken
	}
	s.taken = <-s.order
	<-s.taken.scanned
	return s.taken
}

// sparePieces are pieces of logs that were read: the next log of a series needs as many.
var sparePieces = sync.Pool{New: func() any { return &piece{scanned: make(chan struct{}, 1)} }}

// begin starts the goroutines that read and scan.
func (s *pieces) begin(workers int) {
	n := 2*workers + 2
	s.order, s.free, s.taken = make(chan *piece, n), make(chan *piece, n), nil
	for range n {
		s.free <- sparePieces.Get().(*piece)
	}
	for range workers {
		s.work.Go(func() {
			for p := range s.free {
				s.mu.Lock()
				if s.ended {
					s.mu.Unlock()
					return
				}
				s.read(p)
				s.order <- p
				s.mu.Unlock()
				p.scan()
				p.scanned <- struct{}{}
			}
		})
	}
}

// close ends the work beside; nothing reads from the source after it.
func (s *pieces) close() {
	if s.free == nil {
		return
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	close(s.free)
	s.work.Wait()
	close(s.order)
	for p := range s.order { // those that nobody took
		<-p.scanned
		sparePieces.Put(p)
	}
	for p := range s.free {
		sparePieces.Put(p)
	}
	s.free = nil
}

// read fills a piece, and keeps what is behind its last LF for the next one.
func (s *pieces) read(p *piece) {
	if cap(p.text) < s.size+lineRoom {
		p.text = make([]byte, 0, s.size+lineRoom)
	}
	b := p.text[:copy(p.text[:s.size], s.carry)] // fewer than a piece has
	p.last, p.err = false, nil
	for tries := 0; !p.last && len(b) < s.size; tries++ {
		if s.ctx.Err() != nil {
			p.last, p.err = true, context.Cause(s.ctx)
			break
		}
		n, err := s.src.Read(b[len(b):s.size])
		if b = b[:len(b)+n]; n > 0 {
			tries = 0
		}
		switch {
		case errors.Is(err, io.EOF):
			p.last = true
		case err != nil:
			p.last, p.err = true, err
		case n == 0 && tries == 100:
			p.last, p.err = true, io.ErrNoProgress
		}
	}
	s.ended = p.last
	s.carry = s.carry[:0]
	if end := bytes.LastIndexByte(b, '\n') + 1; end > 0 && !p.last {
		s.carry = append(s.carry, b[end:]...)
		b = b[:end]
	}
	p.text = b
}
