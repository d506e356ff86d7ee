package livesnapshot

import (
	"time"

	"heapdrift/ingest/dump"
	"heapdrift/ingest/minidump"
)

// A source is the process as package dump looks at it.
type source struct {
	*session
	regions    []minidump.Region
	threads    []minidump.Thread
	threadsErr error
	modules    []minidump.Module
	unlisted   int // modules that no loader lists
	broken     int // lists of loaders that could not be followed to their end
}

func (s *source) Memory() dump.Memory                           { return s.memory }
func (s *source) System() minidump.System                       { return s.facts.System }
func (s *source) Process() (minidump.Process, error)            { return s.facts.Process, nil }
func (s *source) Taken() time.Time                              { return s.started.UTC() }
func (s *source) Modules() ([]minidump.Module, error)           { return s.modules, nil }
func (s *source) Regions() ([]minidump.Region, error)           { return s.regions, nil }
func (s *source) Threads() ([]minidump.Thread, error)           { return s.threads, nil }
func (s *source) Counters() (*minidump.Counters, error)         { return s.facts.Counters, nil }
func (s *source) SystemMemory() (*minidump.SystemMemory, error) { return s.facts.Machine, nil }
func (s *source) Comments() []string                            { return nil }
func (s *source) Damage() []*minidump.Problem                   { return nil }

// Unloaded are images that stacks may still name.
func (s *source) Unloaded() ([]minidump.UnloadedModule, error) { return s.facts.Unloaded, nil }

// Registers are not read: only a search for pointers needs them.
func (s *source) Registers(minidump.Thread) (minidump.Registers, error) {
	return minidump.Registers{}, nil
}

// WOW64Registers are not read either.
func (s *source) WOW64Registers(minidump.Thread) (minidump.Registers, error) {
	return minidump.Registers{}, nil
}

// EachHandle calls yield once for each handle of each type.
func (s *source) EachHandle(yield func(minidump.Handle) bool) error {
	for _, h := range s.facts.Handles {
		for range h.Count {
			if !yield(minidump.Handle{Type: h.Type}) {
				return nil
			}
		}
	}
	return nil
}

var _ dump.Source = (*source)(nil)
