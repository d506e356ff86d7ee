package main

import (
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
)

// A census is what a trace is made of. It holds no paths: the session's own name of its file is left out.
type census struct {
	Schema   string          `json:"schema"`
	Start    time.Time       `json:"start"` // UTC; 0 ns
	Covered  censusInterval  `json:"covered"`
	Events   int64           `json:"events"`
	Files    []censusFile    `json:"files"`
	Warnings []censusWarning `json:"warnings"`
	Classes  []censusClass   `json:"classes"`
}

// A censusInterval is that of the first and the last event.
type censusInterval struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

// A censusFile is what a file's header says, and what is missing behind it.
type censusFile struct {
	Name       string       `json:"name"`
	Bytes      int64        `json:"bytes"`
	Buffers    int64        `json:"buffers"`
	Compressed int64        `json:"compressed_buffers"`
	BufferSize uint32       `json:"buffer_bytes"`
	EventBytes int64        `json:"event_bytes"` // decoded
	Version    string       `json:"version"`
	Build      uint32       `json:"os_build"`
	Bits       uint8        `json:"bits"` // of the header
	CPUs       uint32       `json:"cpus"`
	MHz        uint32       `json:"cpu_mhz"`
	Clock      string       `json:"clock"`
	Frequency  int64        `json:"clock_frequency"` // per second
	Mode       string       `json:"mode"`
	Modes      []string     `json:"modes"`
	Session    string       `json:"session"`
	Start      time.Time    `json:"start"`
	End        *time.Time   `json:"end"` // null where the session was not stopped
	Boot       time.Time    `json:"boot"`
	UTCOffset  int64        `json:"utc_offset_minutes"`
	Losses     censusLosses `json:"losses"`
}

// censusLosses are etl.Losses.
type censusLosses struct {
	EventsLost     int64  `json:"events_lost"`
	BuffersLost    int64  `json:"buffers_lost"`
	FlaggedEvents  int64  `json:"buffers_flagged_events_lost"`
	FlaggedBuffers int64  `json:"buffers_flagged_buffer_lost"`
	MissingBuffers int64  `json:"buffers_missing"`
	Overwritten    int64  `json:"buffers_overwritten"`
	CutBuffers     int64  `json:"buffers_cut"`
	Truncated      bool   `json:"truncated"`
	Unfinished     bool   `json:"unfinished"`
	SkippedBytes   int64  `json:"bytes_between_buffers"`
	BadBuffers     int64  `json:"buffers_damaged"`
	BadBytes       int64  `json:"bytes_damaged"`
	FirstDamage    string `json:"first_damage,omitempty"` // offset
	Disordered     int64  `json:"events_disordered"`
}

type censusWarning struct {
	Code    capture.Code `json:"code"`
	Message string       `json:"message"`
	Place   string       `json:"place,omitempty"`
	Count   int64        `json:"count"`
}

// A censusClass is a class of events. Kernel events have a group, others a provider.
type censusClass struct {
	Header   string  `json:"header"`
	Group    *uint8  `json:"group,omitempty"`
	Provider string  `json:"provider,omitempty"` // GUID
	Name     string  `json:"name,omitempty"`     // of the group or provider
	ID       *uint16 `json:"id,omitempty"`       // of manifest events and messages
	Op       uint8   `json:"opcode"`
	OpName   string  `json:"opcode_name,omitempty"`
	Version  uint16  `json:"version"`
	Events   int64   `json:"events"`
	Bytes    int64   `json:"bytes"` // with headers
	Least    int     `json:"payload_min"`
	Longest  int     `json:"payload_max"`
}

func newCensus(trace *etl.Trace, traces *ingest.UnpackedTraces, counts []etl.ClassCount) *census {
	info := trace.Info()
	c := &census{Schema: "heapdrift.census/v1", Start: info.Start, Files: []censusFile{}, Warnings: []censusWarning{},
		Classes: []censusClass{}}
	c.Covered.From, c.Covered.To = trace.Covered()
	for i := range info.Files {
		c.Files = append(c.Files, newCensusFile(&info.Files[i], traces.Files[i].Size))
	}
	for _, w := range slices.Concat(traces.Warnings, trace.Warnings()) {
		c.Warnings = append(c.Warnings, censusWarning{w.Code, w.Message, w.Place, w.Count})
	}
	for i := range counts {
		c.Events += counts[i].Events
		c.Classes = append(c.Classes, newCensusClass(&counts[i]))
	}
	return c
}

func newCensusFile(f *etl.File, size int64) censusFile {
	l, lost := &f.LogFile, &f.Losses
	c := censusFile{
		Name: f.Name, Bytes: size, Buffers: f.Buffers, Compressed: f.Compressed,
		BufferSize: l.BufferSize, EventBytes: f.Bytes,
		Version: fmt.Sprintf("%d.%d.%d.%d", l.Version[0], l.Version[1], l.Version[2], l.Version[3]),
		Build:   l.Build, Bits: l.Bits,
		CPUs: l.CPUs, MHz: l.CPUSpeed, Clock: clockNames[l.Clock], Frequency: l.Frequency,
		Mode: fmt.Sprintf("%#x", uint32(l.Mode)), Modes: modesOf(l.Mode), Session: l.Logger,
		Start: l.Start, Boot: l.Boot, UTCOffset: -int64(l.ZoneBias / time.Minute),
		Losses: censusLosses{
			EventsLost: lost.EventsLost, BuffersLost: lost.BuffersLost, FlaggedEvents: lost.FlaggedEvents,
			FlaggedBuffers: lost.FlaggedBuffers,
			MissingBuffers: lost.MissingBuffers, Overwritten: lost.Overwritten, CutBuffers: lost.CutBuffers,
			Truncated: lost.Truncated, Unfinished: lost.Unfinished,
			SkippedBytes: lost.SkippedBytes, BadBuffers: lost.BadBuffers, BadBytes: lost.BadBytes, Disordered: lost.Disordered,
		},
	}
	if !l.End.IsZero() {
		c.End = &l.End
	}
	if c.Clock == "" {
		c.Clock = fmt.Sprintf("type %d", l.Clock)
	}
	if lost.FirstDamage >= 0 {
		c.Losses.FirstDamage = fmt.Sprintf("%#x", lost.FirstDamage)
	}
	return c
}

func newCensusClass(n *etl.ClassCount) censusClass {
	c := censusClass{Header: n.Header.String(), Op: n.Op, Version: n.Version, Events: n.Events, Bytes: n.Bytes,
		Least: n.ShortestPayload, Longest: n.LongestPayload}
	switch n.Header {
	case etl.HeaderEvent32, etl.HeaderEvent64:
		c.Provider, c.ID = n.Provider.String(), &n.ID
		c.Name = providerNames[c.Provider].name
	case etl.HeaderFull32, etl.HeaderFull64, etl.HeaderInstance32, etl.HeaderInstance64:
		c.Provider = n.Provider.String()
		p := providerNames[c.Provider]
		c.Name, c.OpName = p.name, p.ops[n.Op]
	case etl.HeaderMessage:
		c.ID = &n.ID
	default:
		g := groupNames[n.Group]
		c.Group, c.Name, c.OpName = &n.Group, g.name, g.ops[n.Op]
	}
	return c
}
