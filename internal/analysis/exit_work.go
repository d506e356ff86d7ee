package analysis

import "cmp"

// ExitWork is the work that was done before the lists of leaks at exit of a run were printed. Runs with as many lists
// and different work tell what grows with it.
type ExitWork struct {
	Unit  string  `json:"unit"`
	Count float64 `json:"count"` // of all files together
	Lists int64   `json:"lists"` // how many lists the files hold: one for each end of a process or of a test
}

// exitWork is the work of a run's lists; nil where a list is not whole, where a file does not tell its work, or where
// the number of lists is not known, as of files that an older version has read.
func exitWork(parts []part, unit string) *ExitWork {
	if exitLists(parts) == nil {
		return nil
	}
	w := &ExitWork{Unit: cmp.Or(unit, defaultWork)}
	counted := map[int]bool{} // files
	for i := range parts {
		p := &parts[i]
		if !p.isList() {
			continue
		}
		if p.work == nil || p.Printed == 0 {
			return nil
		}
		if w.Lists += p.Printed; !counted[p.input] {
			counted[p.input] = true
			w.Count += *p.work
		}
	}
	return w
}
