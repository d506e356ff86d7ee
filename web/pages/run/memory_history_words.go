package run

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/footprint"
)

// measureTitle is what the total is called at the head of a column.
func measureTitle(c *footprint.MemoryHistory) string {
	return strings.ToUpper(c.Measure[:1]) + c.Measure[1:]
}

// instantTime says when an instant is; where the chart numbers them, also which of them it is. It is "" where neither
// is there.
func instantTime(c *footprint.MemoryHistory, i int) string {
	taken := localTime(c.Instants[i].TakenAt)
	if isDrawnByTime(c) {
		return taken
	}
	number := "point " + strconv.Itoa(i+1)
	if taken == "" {
		return number
	}
	return number + ", " + taken
}

// instantTitle says what an instant tells.
func instantTitle(c *footprint.MemoryHistory, i int) string {
	at := &c.Instants[i]
	var parts []string
	if at.Total != nil {
		parts = append(parts, fmt.Sprintf("%s %s", c.Measure, quantity.Bytes(*at.Total)))
	}
	for _, use := range historyUses(c) {
		if n := bytesOfUse(at, use); n != 0 {
			parts = append(parts, useTitle(use)+" "+quantity.Bytes(n))
		}
	}
	if at.Blocks != nil {
		parts = append(parts, "heap blocks "+quantity.Bytes(*at.Blocks))
	}
	title := strings.Join(parts, ", ") + " (" + at.File + ")"
	if taken := instantTime(c, i); taken != "" {
		title = taken + ": " + title
	}
	return title
}

// growthTitle says of which instants, and by which figure, a growth is.
func growthTitle(c *footprint.MemoryHistory, from, to *footprint.Instant, by string) string {
	var ends [2]string
	for i := range c.Instants {
		switch &c.Instants[i] {
		case from:
			ends[0] = instantTime(c, i)
		case to:
			ends[1] = instantTime(c, i)
		}
	}
	return c.Measure + by + ", " + ends[0] + " – " + ends[1]
}

// historyName says what the chart shows in words.
func historyName(c *footprint.MemoryHistory) string {
	name := fmt.Sprintf("Memory over time, %s at %s.", c.Measure, quantity.Plural(len(c.Instants), "point"))
	if text := c.DescribeGrowth(); text != "" {
		name += " " + text
	}
	return name
}

// outlookSign is the sign before an outlook: what ends within a week is a warning.
func outlookSign(o *footprint.Outlook) string {
	if o.LeftNS != nil && time.Duration(*o.LeftNS) < 7*24*time.Hour {
		return "warn"
	}
	return "info"
}
