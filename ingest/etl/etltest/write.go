package etltest

import (
	"io"
	"slices"
)

// File is the bytes of a file with the scenario's trace.
func (s *Scenario) File(f Format) []byte {
	f = f.filled()
	return s.encode(f, s.records(f))
}

// Pair is a scenario's trace as two sessions write it, before any merge: the kernel's with processes, images and
// virtual memory, and the heap's. Both carry the stacks of their own events.
func (s *Scenario) Pair(f Format) (kernel, heap []byte) {
	f.Native = true
	f = f.filled()
	var parts [2][]record
	for _, r := range s.records(f) {
		part := 0
		if r.heap {
			part = 1
		}
		parts[part] = append(parts[part], r)
	}
	kernel = s.encode(f, parts[0])
	f.Logger++
	return kernel, s.encode(f, parts[1])
}

// encode writes records into buffers; the order they come in is that of time.
func (s *Scenario) encode(f Format, all []record) []byte {
	if f.Disorder > 1 {
		all = slices.Clone(all)
		for part := range slices.Chunk(all, f.Disorder) { // within a part, later events overtake earlier ones
			slices.Reverse(part)
		}
	}
	size := f.BufferSize
	for i := range all {
		size += len(all[i].event.Payload) + 48 // with its header
	}
	file := memory{make([]byte, 0, size+size/8)}
	r := newRecorder(&file, f, s.Start, s.End, s.CPUs)
	for i := range all {
		e := &all[i]
		r.put(e.cpu, &e.event, e.pid, e.tid, e.raw)
	}
	if err := r.close(); err != nil {
		panic(err) // a scenario that no buffer holds is a mistake in a test
	}
	return file.b
}

// memory is a file in memory that can be written to in place.
type memory struct{ b []byte }

func (m *memory) Write(b []byte) (int, error) {
	m.b = append(m.b, b...)
	return len(b), nil
}

// WriteAt changes what is there.
func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(b)) > int64(len(m.b)) {
		return 0, io.ErrShortWrite
	}
	return copy(m.b[at:], b), nil
}
