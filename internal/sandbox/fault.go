package sandbox

import (
	"errors"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/memory"
)

// A fault is an error on its way between the processes. Errors of evidence and of memory keep their types.
type fault struct {
	Text     string   `json:"text"`
	Refused  *refusal `json:"refused,omitempty"`
	Exceeded int64    `json:"exceeded,omitempty"` // the limit of memory that was
}

// A refusal is an evidence.Error without the chain behind it.
type refusal struct {
	Code, File, Message, Do string
	Line                    int64
	Part                    string
	Offset                  int64
	Address                 uint64
	Cause                   string
	Internal                bool
}

func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{Text: err.Error()}
	var exceeded *memory.LimitError
	if errors.As(err, &exceeded) {
		f.Exceeded = int64(exceeded.Limit)
	}
	var e *evidence.Error
	if errors.As(err, &e) {
		f.Refused = &refusal{e.Code, e.File, e.Message, e.Do, e.Line, e.Part, e.Offset, e.Address, "", e.Internal}
		if e.Err != nil {
			f.Refused.Cause = e.Err.Error()
		}
	}
	return f
}

// err is the fault as an error of this process.
func (f *fault) err() error {
	switch {
	case f == nil:
		return nil
	case f.Exceeded != 0:
		return &memory.LimitError{Limit: memory.Size(f.Exceeded)}
	case f.Refused != nil:
		r := f.Refused
		e := &evidence.Error{Code: r.Code, File: r.File, Message: r.Message, Do: r.Do, Line: r.Line, Part: r.Part,
			Offset: r.Offset, Address: r.Address, Internal: r.Internal}
		if r.Cause != "" {
			e.Err = errors.New(r.Cause)
		}
		return e
	}
	return errors.New(f.Text)
}
