package etl

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/evidence"
)

// open reads a file's first buffer, which holds the log-file header event and is never compressed.
func (s *scanner) open() error {
	f := s.file
	f.Losses.FirstDamage = -1
	n, err := s.read(s.head[:], 0)
	if err != nil {
		return err
	}
	payload, bits, stamp := headerEvent(s.head[:n])
	if payload == 0 {
		return &evidence.Error{Code: CodeNotETL, File: f.Name,
			Message: "this is not an .etl file: it does not begin with the header of a trace"}
	}
	h := parseBufferHeader(s.head[:])
	size := min(h.size, h.filled, maxBuffer)
	if int64(size) > s.source.Size {
		size = uint32(s.source.Size)
	}
	first := make([]byte, size)
	if _, err := s.read(first, 0); err != nil {
		return err
	}
	length := int(le.Uint16(first[bufferHeaderSize+4:]))
	end := min(bufferHeaderSize+length, len(first))
	log, ok := parseLogFile(first[payload:max(end, payload)], bits, stamp)
	if !ok {
		return &evidence.Error{Code: CodeBadHeader, File: f.Name, Offset: int64(payload),
			Message: fmt.Sprintf("the log-file header is cut short: %d bytes are there", max(0, end-payload)),
			Do:      "copy the file again after the session was stopped"}
	}
	if log.stampFrequency() <= 0 || stamp < 0 {
		return &evidence.Error{Code: CodeBadClock, File: f.Name, Offset: int64(payload),
			Message: fmt.Sprintf("the trace's clock is unknown: type %d, %d ticks per second, start %d",
				log.Clock, log.Frequency, stamp)}
	}
	if s.decode, err = decoderOf(le.Uint32(first[0x2C:]), log.Mode, f.Name); err != nil {
		return err
	}
	f.LogFile = log
	f.Losses.EventsLost, f.Losses.BuffersLost = int64(log.EventsLost), int64(log.BuffersLost)
	f.Losses.Unfinished = log.End.IsZero()
	s.limit = min(max(log.BufferSize, minLimit, h.size), maxBuffer)
	return nil
}

// headerEvent finds the log-file header event in the start of a file: where its payload begins, or 0.
func headerEvent(b []byte) (payload int, bits uint8, stamp int64) {
	const payloadAt = bufferHeaderSize + 0x20
	if len(b) < payloadAt {
		return 0, 0, 0
	}
	h := parseBufferHeader(b)
	e := b[bufferHeaderSize:]
	t := HeaderType(e[2])
	if h.size < payloadAt || h.filled < payloadAt || h.flags&flagCompressed != 0 ||
		e[3]&(markAny|markTrace) != markAny|markTrace ||
		t != HeaderSystem32 && t != HeaderSystem64 || le.Uint16(e[6:]) != 0 {
		return 0, 0, 0
	}
	bits = 64
	if t == HeaderSystem32 {
		bits = 32
	}
	return payloadAt, bits, int64(le.Uint64(e[0x10:]))
}

// SniffSize is how many bytes of a file's beginning Sniff looks at.
const SniffSize = bufferHeaderSize + 0x20

// Sniff reports whether a file that begins with head is a trace.
func Sniff(head []byte) bool {
	payload, _, _ := headerEvent(head)
	return payload != 0
}

// Lacks explains why a file that has the name of a trace, but that Sniff refuses, is no trace. It never returns nil.
func Lacks(head []byte) *evidence.Error {
	e := &evidence.Error{Code: CodeNotETL, Message: "this is named as an ETW trace and is none: "}
	switch {
	case len(bytes.Trim(head, "\x00")) == 0:
		e.Message += fmt.Sprintf("its first %d bytes are all zero, as of a file whose copy or download was broken off", len(head))
		e.Do = "copy it again"
	case len(head) < SniffSize:
		e.Message += fmt.Sprintf("it has %d bytes and ends inside the header of its first buffer", len(head))
		e.Do = "copy it again after the session was stopped"
	default:
		e.Message += fmt.Sprintf("it does not begin with the header of a trace (its first bytes are % x)",
			head[:min(len(head), 16)])
	}
	return e
}
