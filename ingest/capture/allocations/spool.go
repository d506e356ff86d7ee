package allocations

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// spoolChunk is how many rows are written and read at a time: 1 MB.
const spoolChunk = 16 << 10

// A Spool keeps rows on temporary disk, 64 bytes each, in the order in which they came. It is a Sink for one goroutine,
// and, between calls of Rows, a Scanner for any number.
type Spool struct {
	mu      sync.Mutex // guards what follows but for the file's content
	file    *os.File   // nil after Close
	path    string     // to remove at Close, where an open file cannot be
	buffer  []byte     // rows that are not in the file yet
	written int64      // rows in the file
	err     error      // of the first write that failed: rows are missing
	sites   []uint32
	stacks  []uint32
}

// NewSpool makes an empty spool in the directory for temporary files.
func NewSpool() (*Spool, error) {
	file, err := os.CreateTemp("", "heapdrift-rows-*")
	if err != nil {
		return nil, failure(CodeDisk, err, "no temporary file for rows")
	}
	s := &Spool{file: file, buffer: make([]byte, 0, spoolChunk*recordSize)}
	if os.Remove(file.Name()) != nil {
		s.path = file.Name()
	}
	return s, nil
}

// Rows adds rows: a Spool is a Sink.
func (s *Spool) Rows(rows []Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range rows {
		if len(s.buffer) == cap(s.buffer) {
			if err := s.flush(); err != nil {
				return err
			}
		}
		at := len(s.buffer)
		s.buffer = s.buffer[:at+recordSize]
		rows[i].put((*[recordSize]byte)(s.buffer[at:]))
	}
	return nil
}

func (s *Spool) flush() error {
	if s.file == nil {
		return failure(CodeClosed, nil, "the spool of rows is closed")
	}
	if s.err != nil || len(s.buffer) == 0 {
		return s.err
	}
	if _, err := s.file.WriteAt(s.buffer, s.written*recordSize); err != nil {
		s.err = failure(CodeDisk, err, "rows cannot be written to temporary disk")
		return s.err
	}
	s.written += int64(len(s.buffer) / recordSize)
	s.buffer = s.buffer[:0]
	return nil
}

// Len is the number of rows.
func (s *Spool) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written + int64(len(s.buffer)/recordSize)
}

// Renumber sets what rows that are read from now on have for Site, and for Stack and FreeStack, by the number that they
// were added with; nil leaves a number as it was added. A row with a number beyond is an error of the scan.
func (s *Spool) Renumber(sites, stacks []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sites, s.stacks = sites, stacks
}

// Scan passes all rows to the sinks, whatever the window.
func (s *Spool) Scan(ctx context.Context, _, _ int64, sinks ...Sink) error {
	s.mu.Lock()
	err := s.flush()
	r := spoolReader{file: s.file, rows: s.written, sites: s.sites, stacks: s.stacks}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	r.pool.New = func() any { return &spoolPage{} }
	return deal(ctx, (r.rows+spoolChunk-1)/spoolChunk, sinks, r.chunk)
}

// Close gives the disk space back. A Scan after it, or at the time, is an error.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.path != "" {
		err = errors.Join(err, os.Remove(s.path))
	}
	s.file, s.buffer = nil, nil
	if err != nil {
		return failure(CodeDisk, err, "the temporary file of rows cannot be removed")
	}
	return nil
}

// A spoolReader is one scan.
type spoolReader struct {
	file          *os.File
	rows          int64
	sites, stacks []uint32
	pool          sync.Pool // of *spoolPage
}

// A spoolPage is what one goroutine reads into.
type spoolPage struct {
	bytes [spoolChunk * recordSize]byte
	rows  [512]Row
}

func (r *spoolReader) chunk(number int64, sink Sink) error {
	page := r.pool.Get().(*spoolPage)
	defer r.pool.Put(page)
	first := number * spoolChunk
	bytes := page.bytes[:min(spoolChunk, r.rows-first)*recordSize]
	if n, err := r.file.ReadAt(bytes, first*recordSize); n < len(bytes) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return failure(CodeDisk, err, "rows from %d on cannot be read from temporary disk", first)
	}
	for len(bytes) > 0 {
		rows := page.rows[:min(len(page.rows), len(bytes)/recordSize)]
		for i := range rows {
			rows[i].get((*[recordSize]byte)(bytes[i*recordSize:]))
		}
		bytes = bytes[len(rows)*recordSize:]
		if err := r.renumber(rows); err != nil {
			return err
		}
		if err := sink.Rows(rows); err != nil {
			return err
		}
	}
	return nil
}

func (r *spoolReader) renumber(rows []Row) error {
	if r.sites != nil {
		for i := range rows {
			if uint64(rows[i].Site) >= uint64(len(r.sites)) {
				return failure(CodeSite, nil, "a row of site %d, and %d have new numbers", rows[i].Site, len(r.sites))
			}
			rows[i].Site = r.sites[rows[i].Site]
		}
	}
	if r.stacks == nil {
		return nil
	}
	for i := range rows {
		if n := max(rows[i].Stack, rows[i].FreeStack); uint64(n) >= uint64(len(r.stacks)) {
			return failure(CodeStack, nil, "a row of stack %d, and %d have new numbers", n, len(r.stacks))
		}
		rows[i].Stack, rows[i].FreeStack = r.stacks[rows[i].Stack], r.stacks[rows[i].FreeStack]
	}
	return nil
}
