package workload

import (
	"io"

	"heapdrift/ingest/etl/etltest"
)

// WriteEvidence writes all files that would be recorded of the process: so many logs, as many dumps, and a trace.
func (p *Process) WriteEvidence(w io.Writer, snapshots int) error {
	logs, reserved := p.umdh(), p.reserved()
	for i := range snapshots {
		seconds := p.Seconds * float64(i+1) / float64(snapshots)
		if err := logs.WriteSnapshot(w, p.snapshot(seconds)); err != nil {
			return err
		}
		file := p.dump(seconds, reserved).File()
		if _, err := io.Copy(w, io.NewSectionReader(file, 0, file.Size())); err != nil {
			return err
		}
	}
	_, err := w.Write(p.scenario().File(etltest.Format{}))
	return err
}
