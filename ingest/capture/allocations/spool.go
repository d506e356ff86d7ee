package allocations

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"heapdrift/internal/tempfile"
)

// spoolMemory is how many bytes of packed rows are kept in memory; those beyond go to temporary disk.
const spoolMemory = 32 << 20

// maxSpoolSites bounds the numbers of sites: who counts them from 0 comes nowhere near.
const maxSpoolSites = 1 << 28

// A Spool keeps rows, some 20 bytes each, in the order in which they came: in memory first, then on temporary disk. A
// row's site stands for its process, heap, stack and kind: all rows of a site must have the same. It is a Sink for one
// goroutine, and, between calls of Rows, a Scanner for any number.
type Spool struct {
	mu      sync.Mutex // guards what follows but for the content of chunks
	packer  *packer    // rows that are in no chunk yet; nil after Close
	owners  []owner    // by site
	chunks  []spoolChunk
	rows    int64    // in chunks
	memory  int64    // bytes of chunks that may still be kept in memory
	file    *os.File // nil while all rows fit into memory
	written int64    // bytes in the file
	err     error    // of the first write that failed: rows are missing
	sites   []uint32
	stacks  []uint32
	splits  []Split
	scratch []byte
}

// An owner is what a site stands for.
type owner struct {
	heap           uint64
	process, stack uint32
	kind           Kind
	known          bool
}

// A spoolChunk is rows that were packed together.
type spoolChunk struct {
	packed []byte // nil where they are in the file
	at     int64
	size   int
	rows   int
}

// NewSpool makes an empty spool.
func NewSpool() *Spool { return &Spool{packer: new(packer), memory: spoolMemory} }

// AddRows adds rows: a Spool is a Sink.
func (s *Spool) AddRows(rows []Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packer == nil {
		return failure(CodeClosed, nil, "the spool of rows is closed")
	}
	for i := range rows {
		r := &rows[i]
		if err := s.setOwner(r); err != nil {
			return err
		}
		if s.packer.add(r); s.packer.n == packRows {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// setOwner remembers what the site of a row stands for.
func (s *Spool) setOwner(r *Row) error {
	if int64(r.Site) >= int64(len(s.owners)) {
		if r.Site >= maxSpoolSites {
			return failure(CodeSite, nil, "a row of site %d, and numbers below %d are kept", r.Site, maxSpoolSites)
		}
		more := int(r.Site) + 1 - len(s.owners)
		s.owners = slices.Grow(s.owners, more)[:len(s.owners)+more]
	}
	is, o := owner{r.Heap, r.Process, r.Stack, r.Kind, true}, &s.owners[r.Site]
	if *o == is {
		return nil
	}
	if o.known {
		return failure(CodeSite, nil,
			"a row of site %d is of another process, heap, stack or kind than one before it", r.Site)
	}
	*o = is
	return nil
}

// flush makes a chunk of the rows that are in none.
func (s *Spool) flush() error {
	if s.packer == nil {
		return failure(CodeClosed, nil, "the spool of rows is closed")
	}
	if s.err != nil || s.packer.n == 0 {
		return s.err
	}
	c := spoolChunk{rows: s.packer.n}
	s.scratch = s.packer.pack(slices.Grow(s.scratch[:0], packMost))
	if c.size = len(s.scratch); int64(c.size) <= s.memory {
		s.memory -= int64(c.size)
		c.packed = slices.Clone(s.scratch)
	} else if s.err = s.write(&c); s.err != nil {
		return s.err
	}
	s.rows += int64(c.rows)
	s.chunks = append(s.chunks, c)
	return nil
}

// write puts the chunk that was packed into the file.
func (s *Spool) write(c *spoolChunk) error {
	if s.file == nil {
		file, err := tempfile.New("heapdrift-rows-")
		if err != nil {
			return failure(CodeDisk, err, "no temporary file for rows")
		}
		s.file = file
	}
	c.at = s.written
	if _, err := s.file.WriteAt(s.scratch, c.at); err != nil {
		return failure(CodeDisk, err, "rows cannot be written to temporary disk")
	}
	s.written += int64(c.size)
	return nil
}

// Len is the number of rows.
func (s *Spool) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packer == nil {
		return s.rows
	}
	return s.rows + int64(s.packer.n)
}

// Renumber sets what rows that are read from now on have for Site, and for Stack and FreeStack, by the number that they
// were added with; nil leaves a number as it was added. A row with a number beyond is an error of the scan.
//
// A number from SplitSite on is that of splits: the rows of such a site have several.
func (s *Spool) Renumber(sites, stacks []uint32, splits []Split) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sites, s.stacks, s.splits = sites, stacks, splits
}

// SplitSite is the first of the numbers, among those that Renumber gives to sites, that stand for a Split: SplitSite+i
// is splits[i].
const SplitSite = 1 << 31

// A Split gives the rows of one site several numbers, by the time of their allocation: before From[0] it is Sites[0],
// from From[i] on Sites[i+1].
type Split struct {
	From  []TraceTime // ns since the trace's start, ascending
	Sites []uint32    // one more than From
}

func (s *Split) site(allocated int64) uint32 {
	after, found := slices.BinarySearch(s.From, allocated)
	if found {
		after++
	}
	return s.Sites[after]
}

// Scan passes all rows to the sinks, whatever the window.
func (s *Spool) Scan(ctx context.Context, _, _ int64, sinks ...Sink) error {
	s.mu.Lock()
	err := s.flush()
	r := spoolReader{file: s.file, chunks: s.chunks, owners: s.owners, sites: s.sites, stacks: s.stacks, splits: s.splits}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	r.pool.New = func() any { return new(spoolPage) }
	return deal(ctx, int64(len(r.chunks)), sinks, r.chunk)
}

// Close gives memory and disk space back. A Scan after it, or at the time, is an error.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packer, s.chunks, s.owners, s.scratch = nil, nil, nil, nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	if err != nil {
		return failure(CodeDisk, err, "the temporary file of rows cannot be removed")
	}
	return nil
}

// A spoolReader is one scan.
type spoolReader struct {
	file          *os.File
	chunks        []spoolChunk
	owners        []owner
	sites, stacks []uint32
	splits        []Split
	pool          sync.Pool // of *spoolPage
}

// A spoolPage is what one goroutine reads into.
type spoolPage struct {
	bytes    []byte
	unpacker unpacker
	rows     [unpackRows]Row
}

func (r *spoolReader) chunk(number int64, sink Sink) error {
	page := r.pool.Get().(*spoolPage)
	defer r.pool.Put(page)
	c := &r.chunks[number]
	packed := c.packed
	if packed == nil {
		page.bytes = slices.Grow(page.bytes[:0], c.size)[:c.size]
		if n, err := r.file.ReadAt(page.bytes, c.at); n < c.size {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return failure(CodeDisk, err, "rows cannot be read from temporary disk at offset %d", c.at)
		}
		packed = page.bytes
	}
	page.unpacker.open(packed, c.rows)
	for left := c.rows; left > 0; {
		rows := page.rows[:min(len(page.rows), left)]
		left -= len(rows)
		page.unpacker.next(rows)
		if err := r.number(rows); err != nil {
			return err
		}
		if err := sink.AddRows(rows); err != nil {
			return err
		}
	}
	return nil
}

// number fills in what the rows' sites stand for, and gives the rows their numbers.
func (r *spoolReader) number(rows []Row) error {
	for i := range rows {
		row := &rows[i]
		o := &r.owners[row.Site]
		row.Heap, row.Process, row.Stack, row.Kind = o.heap, o.process, o.stack, o.kind
		if r.sites != nil {
			if uint64(row.Site) >= uint64(len(r.sites)) {
				return failure(CodeSite, nil, "a row of site %d, and %d have new numbers", row.Site, len(r.sites))
			}
			row.Site = r.sites[row.Site]
			if at := uint64(row.Site - SplitSite); row.Site >= SplitSite && at < uint64(len(r.splits)) {
				row.Site = r.splits[at].site(row.AllocTime)
			}
		}
		if r.stacks == nil {
			continue
		}
		if n := max(row.Stack, row.FreeStack); uint64(n) >= uint64(len(r.stacks)) {
			return failure(CodeStack, nil, "a row of stack %d, and %d have new numbers", n, len(r.stacks))
		}
		row.Stack, row.FreeStack = r.stacks[row.Stack], r.stacks[row.FreeStack]
	}
	return nil
}
