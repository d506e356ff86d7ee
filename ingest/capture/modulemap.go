package capture

import (
	"cmp"
	"slices"
)

// A ModuleMap finds the module that holds an address. It is not changed after NewModuleMap: any number of goroutines
// may use it.
type ModuleMap struct {
	modules []Module
	byBase  []int32 // indices of modules with a base, ascending by base
}

// NewModuleMap indexes modules; it keeps the slice.
func NewModuleMap(modules []Module) *ModuleMap {
	m := &ModuleMap{modules: modules}
	for i := range modules {
		if modules[i].Size > 0 && !modules[i].Former {
			m.byBase = append(m.byBase, int32(i))
		}
	}
	slices.SortStableFunc(m.byBase, func(a, b int32) int { return cmp.Compare(modules[a].Base, modules[b].Base) })
	return m
}

// Of returns the index of the module that a frame lies in, or −1.
func (m *ModuleMap) Of(f Frame) int {
	if f.Module != 0 {
		return int(f.Module) - 1
	}
	return m.Find(f.Address)
}

// Find returns the index of the module that holds the address, or −1.
func (m *ModuleMap) Find(address uint64) int {
	at, exact := slices.BinarySearchFunc(m.byBase, address,
		func(i int32, a uint64) int { return cmp.Compare(m.modules[i].Base, a) })
	if !exact {
		at--
	}
	if at < 0 {
		return -1
	}
	if i := m.byBase[at]; address-m.modules[i].Base < m.modules[i].Size {
		return int(i)
	}
	return -1
}
