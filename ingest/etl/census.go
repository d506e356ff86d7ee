package etl

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"heapdrift/ingest/sorting"
)

// A CensusKey is a class of events: those that a census counts together. Fields that an envelope does not have are 0.
type CensusKey struct {
	Header   HeaderType // the envelope
	Provider GUID
	Group    uint8  // of an event of the kernel
	Op       uint8  // opcode
	ID       uint16 // of a manifest event
	Version  uint16
}

// A ClassCount is how often a class of events was met.
type ClassCount struct {
	CensusKey
	Kind            Kind // KindOther where this package does not decode the class
	Events          int64
	Bytes           int64 // of all events, headers included
	ShortestPayload int   // bytes of the shortest payload
	LongestPayload  int   // bytes of the longest payload
}

// maxClasses bounds a census of a file whose providers are noise.
const maxClasses = 1 << 16

// Census counts the events of a trace by class, most frequent first. Events beyond the 65,536th class are counted
// together under the zero Class. It costs one pass.
func (t *Trace) Census(ctx context.Context) ([]ClassCount, error) {
	counts := map[CensusKey]*ClassCount{}
	var last *ClassCount
	err := t.Events(ctx, func(e *Event) error {
		key := CensusKey{Header: e.Header, Provider: e.Provider, Group: e.Group, Op: e.Op, ID: e.ID, Version: e.Version}
		if last == nil || last.CensusKey != key {
			if last = counts[key]; last == nil {
				if len(counts) >= maxClasses {
					key = CensusKey{}
				}
				if last = counts[key]; last == nil {
					last = &ClassCount{CensusKey: key, Kind: e.Kind, ShortestPayload: len(e.Payload)}
					counts[key] = last
				}
			}
		}
		last.Events++
		last.Bytes += int64(e.Size)
		last.ShortestPayload = min(last.ShortestPayload, len(e.Payload))
		last.LongestPayload = max(last.LongestPayload, len(e.Payload))
		return nil
	})
	out := make([]ClassCount, 0, len(counts))
	for _, c := range counts {
		out = append(out, *c)
	}
	sorting.Stable(out, func(a, b ClassCount) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Header, b.Header),
			bytes.Compare(a.Provider[:], b.Provider[:]),
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Op, b.Op), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	return out, err
}

// headerNames are short names of the envelopes.
var headerNames = map[HeaderType]string{
	HeaderSystem32: "SYS32", HeaderSystem64: "SYS64", HeaderCompact32: "CMP32", HeaderCompact64: "CMP64",
	HeaderFull32: "FULL32", HeaderFull64: "FULL64", HeaderInstance32: "INST32", HeaderInstance64: "INST64",
	HeaderError: "ERROR", HeaderMessage: "MSG", HeaderPerfInfo32: "PERF32", HeaderPerfInfo64: "PERF64",
	HeaderEvent32: "EVT32", HeaderEvent64: "EVT64",
}

// String is the short name of the envelope: "SYS64", "PERF64".
func (h HeaderType) String() string {
	if name, ok := headerNames[h]; ok {
		return name
	}
	return fmt.Sprintf("header %#x", uint8(h))
}
