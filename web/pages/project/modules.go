package project

import (
	"strconv"

	domain "heapdrift/internal/leaks"
)

// shareOf is how long the bar of a module is: the one that grows most has all of the width.
func (v projectView) shareOf(m *domain.ModuleShare) string {
	most := v.modules.List[0].Bytes
	if most <= 0 {
		return "0%"
	}
	return strconv.FormatFloat(100*m.Bytes/most, 'f', 2, 64) + "%"
}
