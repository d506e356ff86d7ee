package leaks

import (
	"cmp"
	"slices"
)

// NoModule stands, where a module is asked for, for leaks without a stack. No file of Windows has that name.
const NoModule = "?"

// A ModuleRow is the total growth of the open leaks that blame one module and count by one unit.
type ModuleRow struct {
	Module     string  // "" for leaks without a stack
	Unit       string  // of the rate; "" for leaks of which none is known
	Bytes      float64 // per unit
	Signatures int
}

// A ModuleShare is the share of a module in the growth of a project.
type ModuleShare struct {
	Module     string // NoModule for leaks without a stack
	Bytes      float64
	Signatures int // open leaks, in whatever unit they count
	Uncounted  int // of them, that Bytes does not count: by another unit, or without a rate
}

// ModuleShares are the modules of a project, those that grow most first.
type ModuleShares struct {
	Unit string // that the growth is told by: the one that most open leaks count by; "" for none
	List []ModuleShare
	Rest *ModuleShare // of the modules behind the list, their count in Modules; nil where the list is whole
	// Modules is how many modules the rest has.
	Modules int
}

// SharesByModule tells the growth of a project by module, of most modules one by one.
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
	slices.SortFunc(s.List, func(a, b ModuleShare) int {
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
