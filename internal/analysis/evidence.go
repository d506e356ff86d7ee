package analysis

import "heapdrift/ingest/capture"

// evidence lists the files, each once, with the process that its first capture shows.
func evidence(inputs []Input, parts []part) []Evidence {
	used := map[int]bool{}
	for _, p := range parts {
		used[p.input] = true
	}
	var list []Evidence
	for i, in := range inputs {
		e := Evidence{Used: used[i]}
		for k, c := range in.Captures {
			if k == 0 {
				e.Kind, e.Process = string(c.Kind), processOf(c.Process)
				e.TakenAt = c.Snapshots[len(c.Snapshots)-1].WallClock()
			}
			if c.Trace != nil {
				e.Events = c.Trace.Events
				continue
			}
			e.Snapshots += len(c.Snapshots)
		}
		for _, p := range parts {
			if p.input == i && p.Trace != nil { // of the processes of a trace, the one that the report is about
				e.Process = processOf(p.Process)
			}
		}
		for _, f := range in.Files {
			e.File, e.SHA256, e.Bytes = f.Name, f.SHA256, f.Bytes
			if lists := listsOf(&e, in.Captures); lists != nil {
				list = append(list, lists...)
				continue
			}
			list = append(list, e)
		}
	}
	return list
}

// listsOf gives a file with lists of what was left at exit a row for each list; nil of a file without one.
func listsOf(e *Evidence, captures []*capture.Capture) (list []Evidence) {
	for _, c := range captures {
		if c.Shape != capture.ShapeExit {
			continue
		}
		of := *e
		of.Kind, of.Process, of.Test, of.Snapshots = string(c.Kind), processOf(c.Process), c.Test, 1
		list = append(list, of)
	}
	return list
}
