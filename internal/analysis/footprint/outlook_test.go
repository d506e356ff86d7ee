package footprint

import (
	"testing"
	"time"
)

// A verdict tells of the limit that is reached first, where that is in seven days or less, with the bounds of the time.
func TestSaidOfEnd(t *testing.T) {
	in := func(d time.Duration) *int64 { return new(int64(d)) }
	const day = 24 * time.Hour
	space := func(left, least, most *int64) Outlook {
		return Outlook{Resource: ResourceAddressSpace, BytesPerHour: 2 << 20, LeftNS: left, LeastNS: least, MostNS: most}
	}
	for _, c := range []struct {
		name  string
		limit []Outlook
		want  string
	}{
		{"not known", []Outlook{{Resource: ResourceCommit, Why: "it did not grow"}}, ""},
		{"in hours", []Outlook{space(in(5*time.Hour), nil, nil)}, "the address space is used up in 5 hours, at 2.00 MB per hour"},
		{"with bounds", []Outlook{space(in(5*time.Hour), in(4*time.Hour), in(3*day))},
			"the address space is used up in 5 hours (4 hours to 3 days), at 2.00 MB per hour"},
		{"with a lower bound", []Outlook{space(in(5*time.Hour), in(4*time.Hour), nil)},
			"the address space is used up in 5 hours (4 hours or more), at 2.00 MB per hour"},
		{"in seven days", []Outlook{space(in(soon), nil, nil)}, "the address space is used up in 7 days, at 2.00 MB per hour"},
		{"later", []Outlook{space(in(soon+1), nil, nil)}, ""},
		{"used up", []Outlook{space(in(0), nil, nil)}, "the address space is used up"},
		{"the first of two", []Outlook{space(in(6*day), nil, nil), {Resource: ResourceCommit, BytesPerHour: 1 << 20, LeftNS: in(5 * day)}},
			"the commit of the machine is used up in 5 days, at 1.00 MB per hour"},
	} {
		if got := (&MemoryHistory{Outlooks: c.limit}).DescribeFirstLimit(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := (*MemoryHistory)(nil).DescribeFirstLimit(); got != "" {
		t.Errorf("without memory over time: %q", got)
	}
}
