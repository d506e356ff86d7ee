package minidump

import (
	"context"
	"fmt"
	"io"
	"slices"

	"heapdrift/ingest/evidence"
)

// A Dump is a minidump that was opened. Its methods may be called from several goroutines.
type Dump struct {
	src      *source
	header   Header
	system   System
	streams  []Stream
	comments []string
	memory   *Memory
	damage   []*Problem
}

// Open reads the header, the directory, the facts about the system, comments, and where memory lies. It returns an
// *evidence.Error for a file that is no minidump of a Windows process; the error says what the file is and what to do.
// Damage to a dump is no error (see Damage). The context rules all reading from the dump, also by its methods and after
// Open has returned.
func Open(ctx context.Context, r io.ReaderAt, size int64) (*Dump, error) {
	d := &Dump{src: &source{ctx: ctx, r: r, size: max(size, 0)}, memory: &Memory{}}
	d.memory.src = d.src
	head := make([]byte, d.src.room(0, headerSize))
	if err := d.src.read(head, 0); err != nil && len(head) > 0 {
		return nil, &evidence.Error{Code: CodeReadFailed, Message: "reading the dump failed", Err: err}
	}
	if err := refuse(head); err != nil {
		return nil, err
	}
	d.header = parseHeader(head)
	at := int64(le.Uint32(head[0x0C:]))
	if d.header.Streams == 0 || d.src.room(at, directoryEntrySize) < directoryEntrySize {
		return nil, &evidence.Error{Code: CodeBadHeader, Offset: 0x08, Message: fmt.Sprintf(
			"the header lists %d streams at offset %#x of %d bytes: the dump is cut short or was not finished",
			d.header.Streams, at, d.src.size), Do: "make or upload it again"}
	}
	directory := problems{}
	d.directory(at, &directory)
	if unread := func(p *Problem) bool { return p.Code == CodeReadFailed }; len(d.streams) == 0 &&
		slices.ContainsFunc(directory.list, unread) {
		return nil, &evidence.Error{Code: CodeReadFailed, Offset: at, Message: "reading the directory of the dump failed",
			Err: directory.err()}
	}
	system := problems{stream: StreamSystemInfo}
	d.readSystem(&system)
	if err := refuseSystem(d.system); err != nil {
		return nil, err
	}
	d.damage = slices.Concat(directory.list, system.list)
	d.damage = append(d.damage, d.readComments()...)
	d.damage = append(d.damage, d.readMemoryLists()...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// Header is what the dump says of itself.
func (d *Dump) Header() Header { return d.header }

// System is what the dump says of the machine; it is zero where it does not.
func (d *Dump) System() System { return d.system }

// Streams are the entries of the directory that are used, in its order.
func (d *Dump) Streams() []Stream { return d.streams }

// Memory is the memory of the process as far as the dump holds it.
func (d *Dump) Memory() *Memory { return d.memory }

// Damage is what was wrong with the parts that Open reads. Errors of other parts are returned by their methods.
func (d *Dump) Damage() []*Problem { return d.damage }

// WithoutHeap says why the dump cannot tell about heaps, and what to do; it is nil where it may hold their memory. That
// is told by the memory that is there, as writers other than Windows' own leave the flags 0.
func (d *Dump) WithoutHeap() *evidence.Error {
	const howTo = "make a full dump: procdump -ma PID, or Create memory dump file of Task Manager"
	_, full := d.stream(StreamMemory64List)
	_, some := d.stream(StreamMemoryList)
	e := &evidence.Error{Code: CodeNoHeap, Offset: 0x18, Do: "upload it again, or make it on a disk with enough space"}
	switch held := len(d.memory.ranges) > 0; {
	case held && (full || d.header.Flags&(FlagFullMemory|FlagPrivateWritable) != 0):
		return nil
	case d.header.FullMemory && d.memory.missing > 0:
		e.Message = fmt.Sprintf("the dump is cut short before its memory: %d bytes of it are missing", d.memory.missing)
	case d.header.FullMemory || full:
		e.Message = "the dump has no list of memory although it should hold all of it: it is cut short or was not finished"
	case some:
		e.Message, e.Do = fmt.Sprintf("this dump has thread stacks and little else (flags %s)", d.header.Flags), howTo
	default:
		e.Message, e.Do = fmt.Sprintf("this dump has no memory (flags %s)", d.header.Flags), howTo
	}
	return e
}
