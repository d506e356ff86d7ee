package ingest

import (
	"sync"

	"heapdrift/ingest/etl"
)

// A progress reports how much of all sources is consumed, never less than before. Where a trace is unpacked first,
// that is half of the work, and reading it the other half.
type progress struct {
	report func(done, total int64) // one call at a time; may be nil
	total  int64                   // bytes of the sources

	mu       sync.Mutex
	last     int64
	sources  int64 // bytes of sources that are read
	unpacked int64 // bytes of temporary files
	reread   int64 // of them
}

func newProgress(report func(done, total int64), srcs ...Source) *progress {
	p := &progress{report: report}
	for _, src := range srcs {
		p.total += src.Size
	}
	return p
}

// source makes what reports how much of a source is read.
func (p *progress) source() func(done, total int64) { return p.part(&p.sources) }

// part makes what reports how much is read of a part of the work.
func (p *progress) part(sum *int64) func(done, total int64) {
	if p.report == nil {
		return nil
	}
	before := int64(0)
	return func(done, _ int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		*sum += done - before
		before = done
		done = p.sources
		if p.unpacked > 0 {
			done = p.sources/2 + int64(float64(p.total-p.total/2)*float64(p.reread)/float64(p.unpacked))
		}
		p.set(done)
	}
}

// temporary reports what is read of a file that was unpacked.
func (p *progress) temporary(f etl.Source) etl.Source {
	p.mu.Lock()
	p.unpacked += f.Size
	p.mu.Unlock()
	if p.report == nil || f.Size == 0 {
		return f
	}
	f.ReaderAt = &meter{src: Source{f.Name, f.ReaderAt, f.Size}, progress: p.part(&p.reread)}
	return f
}

// done reports that all is consumed.
func (p *progress) done() {
	if p.report != nil {
		p.mu.Lock()
		p.set(p.total)
		p.mu.Unlock()
	}
}

// set is called with mu held.
func (p *progress) set(done int64) {
	if done > p.last {
		p.last = min(done, p.total)
		p.report(p.last, p.total)
	}
}
