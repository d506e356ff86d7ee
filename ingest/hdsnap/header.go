package hdsnap

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"time"

	"heapdrift/ingest/evidence"
)

const (
	magic   = "hdsnap\r\n"
	version = 1
	// fixed is what stands before the header: magic, version and length.
	fixed       = len(magic) + 2 + 4
	checksum    = 4
	mostHeader  = 64 << 10
	takeItAgain = "take or upload the snapshot again"
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// The codes of errors. They are stable.
const (
	CodeTruncated  = "hdsnap-truncated" // the file ends before what it says it holds
	CodeDamaged    = "hdsnap-damaged"
	CodeVersion    = "hdsnap-version" // written by a later heapdrift
	CodeReadFailed = evidence.CodeReadFailed
)

// A Header says what a snapshot is of, before its capture is read. What is not known is zero and left out.
type Header struct {
	Process Process   `json:"process"`
	TakenAt time.Time `json:"taken_at"`         // in the zone of the machine
	Host    string    `json:"host,omitempty"`   // name of the machine
	System  string    `json:"system,omitempty"` // "Windows 10.0.26100"
	Writer  string    `json:"writer,omitempty"` // "heapdrift 0.1.0"
	// Project, Build, Branch, Commit and Scenario say which run it belongs to, as the flags of push do; "" for not
	// said.
	Project  string `json:"project,omitempty"`
	Build    string `json:"build,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Scenario string `json:"scenario,omitempty"`
	// Work is what the process had done, in WorkUnit; nil where nobody counted.
	Work     *int64 `json:"work,omitempty"`
	WorkUnit string `json:"work_unit,omitempty"`
	Cost     *Cost  `json:"cost,omitempty"` // nil where it was not measured
}

// A Process is the process of a snapshot.
type Process struct {
	Name    string    `json:"name,omitempty"` // image name with extension
	PID     uint32    `json:"pid"`
	Bits    uint8     `json:"bits,omitempty"` // 32 or 64
	Started time.Time `json:"started,omitzero"`
}

// A Cost is what taking the snapshot cost.
type Cost struct {
	PauseNS   int64 `json:"pause_ns"`            // how long the process was suspended
	TotalNS   int64 `json:"total_ns"`            // from the first to the last read
	BytesRead int64 `json:"bytes_read"`          // of the process's memory
	Regions   int64 `json:"regions"`             // how many regions of memory it had
	Vanished  int64 `json:"vanished,omitempty"`  // regions that were freed or protected before they were read
	Unread    int64 `json:"unread,omitempty"`    // regions of which a page could not be read for another reason
	Cloned    bool  `json:"cloned,omitempty"`    // a clone of the process was read, not the process
	LimitHit  bool  `json:"limit_hit,omitempty"` // the process went on at the longest pause allowed, before all was read
}

// Sniff reports whether a file begins as a snapshot.
func Sniff(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// append appends all that stands before the capture.
func (h *Header) append(b []byte) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("hdsnap: header: %w", err)
	}
	if len(text) > mostHeader {
		return nil, fmt.Errorf("hdsnap: the header has %d bytes, at most %d are allowed: shorten the names", len(text),
			mostHeader)
	}
	b = le.AppendUint16(append(b, magic...), version)
	b = append(le.AppendUint32(b, uint32(len(text))), text...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// ReadHeader reads what stands before the capture. Its errors are those of Read.
func ReadHeader(r io.Reader) (*Header, error) {
	b := make([]byte, fixed)
	if n, err := io.ReadFull(r, b); err != nil {
		return nil, cut(n, err)
	}
	if !Sniff(b) {
		return nil, &evidence.Error{Code: CodeDamaged, Message: "this is not a snapshot of heapdrift"}
	}
	if v := le.Uint16(b[len(magic):]); v != version {
		return nil, &evidence.Error{Code: CodeVersion, Offset: int64(len(magic)), Do: "update heapdrift",
			Message: fmt.Sprintf("the snapshot has version %d of the format; this heapdrift reads version %d", v, version)}
	}
	length := le.Uint32(b[len(magic)+2:])
	if length > mostHeader {
		return nil, &evidence.Error{Code: CodeDamaged, Offset: int64(len(magic) + 2), Do: takeItAgain,
			Message: fmt.Sprintf("the header claims %d bytes, at most %d are allowed", length, mostHeader)}
	}
	b = slices.Concat(b, make([]byte, length+checksum))
	if n, err := io.ReadFull(r, b[fixed:]); err != nil {
		return nil, cut(fixed+n, err)
	}
	end := len(b) - checksum
	if crc32.Checksum(b[:end], castagnoli) != le.Uint32(b[end:]) {
		return nil, &evidence.Error{Code: CodeDamaged, Offset: int64(end), Message: "the header does not fit its checksum",
			Do: takeItAgain}
	}
	h := &Header{}
	if err := json.Unmarshal(b[fixed:end], h); err != nil {
		return nil, &evidence.Error{Code: CodeDamaged, Offset: int64(fixed), Message: "the header is not understood",
			Err: err, Do: takeItAgain}
	}
	return h, nil
}

// cut tells a file that ends from a reader that fails.
func cut(at int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &evidence.Error{Code: CodeTruncated, Offset: int64(at), Message: "the snapshot is cut short in its header",
			Do: takeItAgain}
	}
	return &evidence.Error{Code: CodeReadFailed, Offset: int64(at), Message: "reading the snapshot failed", Err: err}
}
