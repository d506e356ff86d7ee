package leaks

import (
	"cmp"

	"heapdrift/ingest/sorting"
)

// NoModule is what a module filter has for leaks without a stack. No file of Windows has that name.
const NoModule = "?"

// A ModuleRow is the total growth of the open leaks of one blamed module, in one unit.
type ModuleRow struct {
	Module     string  // "" for leaks without a stack
	Unit       string  // "hour", or a unit of work; "" for leaks without a known rate
	Bytes      float64 // bytes per Unit
	Signatures int     // how many leaks
}

// A ModuleShare is the part of a project's growth that one module has.
type ModuleShare struct {
	Module     string  // NoModule for leaks without a stack
	Bytes      float64 // per ModuleShares.Unit
	Signatures int     // open leaks, whatever the unit of their rate
	Uncounted  int     // those of Signatures that Bytes leaves out: they have a rate in another unit, or none
}

// ModuleShares are the modules of a project, those that grow most first.
type ModuleShares struct {
	Unit string // the unit that most open leaks have their rate in; "" for none
	List []ModuleShare
	Rest *ModuleShare // sum of the modules that are not in List; nil where List has all
	// Modules is how many modules Rest sums.
	Modules int
}

// SharesByModule sums the growth of a project by module, and lists at most so many modules.
func SharesByModule(rows []ModuleRow, most int) ModuleShares {
	units := map[string]int{}
	for _, r := range rows {
		if r.Unit != "" {
			units[r.Unit] += r.Signatures
		}
	}
	s := ModuleShares{}
	for unit, n := range units {
		if best := units[s.Unit]; s.Unit == "" || n > best || n == best && unit < s.Unit {
			s.Unit = unit
		}
	}
	by := map[string]*ModuleShare{}
	for _, r := range rows {
		name := cmp.Or(r.Module, NoModule)
		share := by[name]
		if share == nil {
			share = &ModuleShare{Module: name}
			by[name] = share
		}
		share.Signatures += r.Signatures
		if r.Unit != "" && r.Unit == s.Unit {
			share.Bytes += r.Bytes
		} else {
			share.Uncounted += r.Signatures
		}
	}
	for _, share := range by {
		s.List = append(s.List, *share)
	}
	sorting.Stable(s.List, func(a, b ModuleShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Signatures, a.Signatures), cmp.Compare(a.Module, b.Module))
	})
	if len(s.List) > most {
		s.Rest, s.Modules = &ModuleShare{}, len(s.List)-most
		for _, share := range s.List[most:] {
			s.Rest.Bytes, s.Rest.Signatures, s.Rest.Uncounted = s.Rest.Bytes+share.Bytes, s.Rest.Signatures+share.Signatures,
				s.Rest.Uncounted+share.Uncounted
		}
		s.List = s.List[:most]
	}
	return s
}
