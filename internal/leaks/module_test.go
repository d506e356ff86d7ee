package leaks_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestSharesByModule(t *testing.T) {
	row := func(module, unit string, bytes float64, n int) leaks.ModuleRow {
		return leaks.ModuleRow{Module: module, Unit: unit, Bytes: bytes, Signatures: n}
	}
	for name, test := range map[string]struct {
		rows []leaks.ModuleRow
		most int
		want string
	}{
		"nothing": {nil, 2, "per :"},
		"by growth": {[]leaks.ModuleRow{row("audit", "hour", 5, 3), row("shopd", "hour", 9, 1)}, 2,
			"per hour: shopd 9 of 1; audit 5 of 3"},
		"by count, name": {[]leaks.ModuleRow{row("c", "hour", 5, 1), row("b", "hour", 5, 2), row("a", "hour", 5, 1)}, 3,
			"per hour: b 5 of 2; a 5 of 1; c 5 of 1"},
		"two units": {[]leaks.ModuleRow{row("shopd", "hour", 9, 1), row("shopd", "document", 3, 2),
			row("audit", "hour", 1, 1)}, 2, "per document: shopd 3 of 3, 1 not counted; audit 0 of 1, 1 not counted"},
		"units that tie": {[]leaks.ModuleRow{row("a", "hour", 9, 1), row("b", "document", 3, 1)}, 2,
			"per document: b 3 of 1; a 0 of 1, 1 not counted"},
		"without a rate": {[]leaks.ModuleRow{row("a", "", 0, 2), row("a", "hour", 4, 1)}, 2,
			"per hour: a 4 of 3, 2 not counted"},
		"none has a rate": {[]leaks.ModuleRow{row("a", "", 0, 2)}, 2, "per : a 0 of 2, 2 not counted"},
		"without a stack": {[]leaks.ModuleRow{row("", "hour", 4, 1)}, 2, "per hour: ? 4 of 1"},
		"as many as fit": {[]leaks.ModuleRow{row("a", "hour", 4, 1), row("b", "hour", 3, 1)}, 2,
			"per hour: a 4 of 1; b 3 of 1"},
		"more than fit": {[]leaks.ModuleRow{row("a", "hour", 4, 1), row("b", "hour", 3, 2), row("c", "", 0, 5)}, 1,
			"per hour: a 4 of 1; and 2 more: 3 of 7, 5 not counted"},
	} {
		s := leaks.SharesByModule(test.rows, test.most)
		var parts []string
		say := func(name string, m *leaks.ModuleShare) {
			text := fmt.Sprintf("%s %g of %d", name, m.Bytes, m.Signatures)
			if m.Uncounted > 0 {
				text += fmt.Sprintf(", %d not counted", m.Uncounted)
			}
			parts = append(parts, text)
		}
		for i := range s.List {
			say(s.List[i].Module, &s.List[i])
		}
		if s.Rest != nil {
			say(fmt.Sprintf("and %d more:", s.Modules), s.Rest)
		}
		if got := strings.TrimSuffix("per "+s.Unit+": "+strings.Join(parts, "; "), " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}
