package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"heapdrift/internal/tempfile"
)

// The kinds of messages.
const (
	kindTask     = "task"     // parent → child, once
	kindAsk      = "ask"      // child → parent
	kindAnswer   = "answer"   // parent → child
	kindProgress = "progress" // child → parent
	kindEnd      = "end"      // child → parent, the last
)

// A message is one packet. What its body has beyond a packet comes as a file.
type message struct {
	Kind    string          `json:"kind"`
	ID      uint64          `json:"id,omitempty"`   // of a question and its answer
	Name    string          `json:"name,omitempty"` // of a task or a question; the stage of progress
	Body    json.RawMessage `json:"body,omitempty"`
	Fault   *fault          `json:"fault,omitempty"`
	Percent int             `json:"percent,omitempty"`
	AsFile  bool            `json:"as_file,omitempty"` // the first file is the body
	Limit   int64           `json:"limit,omitempty"`   // of memory, with a task

	content any // of a message that is sent: what Body becomes the JSON of; nil for none
	file    *os.File
}

const (
	maxPacket = 64 << 10 // bytes; below what a socket takes at once everywhere
	maxBody   = 32 << 10 // bytes of a body in its packet
	maxApart  = 64 << 20 // bytes of a body that comes as a file
)

// A wire is one end of the pair of sockets.
type wire struct {
	conn *net.UnixConn
	mu   sync.Mutex // of writes
}

// newWire takes an end of a pair of sockets over.
func newWire(f *os.File) (*wire, error) {
	defer func() { _ = f.Close() }() // the connection has a descriptor of its own
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("sandbox: socket: %w", err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("sandbox: the socket is not of the system"), c.Close())
	}
	return &wire{conn: conn}, nil
}

// send sends a message with its content and its file, which stays open.
func (w *wire) send(m message) (err error) {
	if m.content != nil {
		if m.Body, err = json.Marshal(m.content); err != nil {
			return fmt.Errorf("sandbox: %s: %w", m.Kind, err)
		}
	}
	var files []*os.File
	if len(m.Body) > maxBody {
		f, err := fileOf(m.Body)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		m.Body, m.AsFile, files = nil, true, []*os.File{f}
	}
	if m.Fault != nil && len(m.Fault.Text) > maxBody/4 {
		m.Fault.Text = m.Fault.Text[:maxBody/4]
	}
	if m.file != nil {
		files = append(files, m.file)
	}
	packet, err := json.Marshal(m)
	if err == nil && len(packet) > maxPacket {
		err = fmt.Errorf("%d bytes are too many", len(packet))
	}
	if err != nil {
		return fmt.Errorf("sandbox: %s: %w", m.Kind, err)
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	var rights []byte
	if len(fds) > 0 {
		rights = syscall.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, _, err := w.conn.WriteMsgUnix(packet, rights, nil); err != nil {
		return fmt.Errorf("sandbox: send %s: %w", m.Kind, err)
	}
	return nil
}

// receive waits for the next message; io.EOF says that the other process is gone.
func (w *wire) receive(packet []byte) (message, error) {
	rights := make([]byte, syscall.CmsgSpace(2*4))
	n, have, _, _, err := w.conn.ReadMsgUnix(packet, rights)
	if err != nil {
		return message{}, fmt.Errorf("sandbox: receive: %w", err)
	}
	files := filesOf(rights[:have])
	if n == 0 {
		closeAll(files)
		return message{}, io.EOF
	}
	var m message
	if err := json.Unmarshal(packet[:n], &m); err != nil {
		closeAll(files)
		return message{}, fmt.Errorf("sandbox: receive: %w", err)
	}
	if m.AsFile && len(files) > 0 {
		m.Body, err = io.ReadAll(io.NewSectionReader(files[0], 0, maxApart))
		_ = files[0].Close()
		files = files[1:]
	}
	if len(files) > 0 {
		m.file = files[0]
		closeAll(files[1:])
	}
	return m, err
}

// filesOf are the files that came with a packet.
func filesOf(rights []byte) []*os.File {
	parts, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	var files []*os.File
	for i := range parts {
		fds, err := syscall.ParseUnixRights(&parts[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "handed over"))
		}
	}
	return files
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// fileOf is a file that no folder lists, with the content.
func fileOf(content []byte) (*os.File, error) {
	f, err := tempfile.New("heapdrift-sandbox-")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(content); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: temporary file: %w", err), f.Close())
	}
	return f, nil
}
