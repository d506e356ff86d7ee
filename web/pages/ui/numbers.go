package ui

import (
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// ExactBytes is a size to the byte, for where the short form is not enough.
func ExactBytes(n int64) string { return quantity.Count(n) + " B" }

// A Change is a growth as tables show it: a glyph, so that it does not rest on colour alone, and a sign.
type Change struct {
	Class string // up, more, down or flat; more is up where nothing leaks
	Text  string
	Exact string
}

// Of is the change as that of something of a class, "" for what has none: red only where it leaks or grows.
func (c Change) Of(class analysis.Class) Change {
	if c.Class == "up" && !class.IsSuspect() {
		c.Class = "more"
	}
	return c
}

// BytesChange is a growth in bytes; nil has nothing to compare with.
func BytesChange(n *int64) Change {
	if n == nil {
		return NoChange("nothing to compare with")
	}
	return ChangeOf(*n, quantity.Bytes(*n), ExactBytes(*n))
}

// CountChange is a growth in blocks; nil has nothing to compare with.
func CountChange(n *int64) Change {
	if n == nil {
		return NoChange("nothing to compare with")
	}
	return ChangeOf(*n, quantity.Count(*n), quantity.Count(*n)+" blocks")
}

// NoChange stands where no growth can be given, and says why.
func NoChange(why string) Change { return Change{"flat", "–", why} }

// ChangeOf is a growth of n, with its amount in short and in full.
func ChangeOf(n int64, text, exact string) Change {
	switch {
	case n > 0:
		return Change{"up", "▲ +" + text, "+" + exact}
	case n < 0:
		return Change{"down", "▼ " + text, exact}
	}
	return Change{"flat", "= " + text, exact}
}

// GrowthOf is a growth in bytes, nil where there is nothing to compare with.
func GrowthOf(a analysis.Amounts) *int64 {
	if a.Growth == nil {
		return nil
	}
	return &a.Growth.Bytes
}

// RowsShown says which of how many rows a page shows behind the rows before it: "26–50 of 1,234 builds", or "3 builds"
// where it shows all.
func RowsShown(before, shown, total int, word string) string {
	if shown == total {
		return quantity.Plural(total, word)
	}
	return quantity.Count(int64(before+1)) + "–" + quantity.Count(int64(before+shown)) + " of " + quantity.Plural(total, word)
}

// TimeText is an instant as pages show it.
func TimeText(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") }

// Timestamp is the instant for <time>.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// OrDash stands a dash where there is nothing to say.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
