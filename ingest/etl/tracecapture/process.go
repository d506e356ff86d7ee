package tracecapture

import (
	"strings"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
)

// shortName is the length to which old versions of Windows cut the name of a process.
const shortName = 15

// processName is the file name of a process's program. Where it was cut, an image of the process has the whole of it.
func processName(p *etl.Process) string {
	if len(p.Name) < shortName-1 || strings.HasSuffix(strings.ToLower(p.Name), ".exe") {
		return p.Name
	}
	for i := range p.Images {
		file := p.Images[i].Path[strings.LastIndexByte(p.Images[i].Path, '\\')+1:]
		lower := strings.ToLower(file)
		if strings.HasSuffix(lower, ".exe") && strings.HasPrefix(lower, strings.ToLower(p.Name)) {
			return file
		}
	}
	return p.Name
}

// bits is the width of the process: its own heap events tell, then its flags, then the system's width.
func (b *builder) bits(p *etl.Process) uint8 {
	switch {
	case p.HeapPointerBytes != 0:
		return 8 * p.HeapPointerBytes
	case p.Flags&etl.ProcessWOW64 != 0:
		return 32
	}
	return b.info.Files[0].LogFile.Bits
}

// began is when the process began, if that is inside the trace.
func began(p *etl.Process) int64 {
	if p.Start == etl.UnknownTime {
		return allocations.BeforeTrace
	}
	return p.Start
}

// exited is when the process ended, if that is inside the trace.
func exited(p *etl.Process) int64 {
	if p.End == etl.UnknownTime {
		return allocations.Never
	}
	return p.End
}
