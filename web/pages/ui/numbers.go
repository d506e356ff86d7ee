package ui

import (
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// ExactBytes prints a size with all its digits.
func ExactBytes(n int64) string { return quantity.Count(n) + " B" }

// A GrowthText is a growth as tables show it: a glyph, so that it does not rest on colour alone, and a sign.
type GrowthText struct {
	Class string // of CSS: up, more, down or flat; more is up where nothing leaks
	Text  string // with glyph and sign
	Exact string // with all digits; "" where Text has them
}

// Of is the growth of something with this class, "" for none: it is red only where that leaks or grows.
func (c GrowthText) Of(class analysis.Class) GrowthText {
	if c.Class == "up" && !class.IsSuspect() {
		c.Class = "more"
	}
	return c
}

// BytesGrowthText prints growth in bytes; nil says that there is nothing to compare with.
func BytesGrowthText(n *int64) GrowthText {
	if n == nil {
		return UnknownGrowthText("nothing to compare with")
	}
	return SignedGrowthText(*n, quantity.Bytes(*n), ExactBytes(*n))
}

// CountGrowthText prints growth in blocks; nil says that there is nothing to compare with.
func CountGrowthText(n *int64) GrowthText {
	if n == nil {
		return UnknownGrowthText("nothing to compare with")
	}
	return SignedGrowthText(*n, quantity.Count(*n), quantity.Count(*n)+" blocks")
}

// UnknownGrowthText says why growth is unknown.
func UnknownGrowthText(why string) GrowthText { return GrowthText{"flat", "–", why} }

// IsKnown reports whether there is a number: sentences name what is held where there is none.
func (c GrowthText) IsKnown() bool { return c.Text != "–" }

// SignedGrowthText is a growth of n, with its amount in short and in full.
func SignedGrowthText(n int64, text, exact string) GrowthText {
	switch {
	case n > 0:
		return GrowthText{"up", "▲ +" + text, "+" + exact}
	case n < 0:
		return GrowthText{"down", "▼ " + text, exact}
	}
	return GrowthText{"flat", "= " + text, exact}
}

// GrowthBytes is a growth in bytes, nil where there is nothing to compare with.
func GrowthBytes(a analysis.Amounts) *int64 {
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

// OrDash is the text, or a dash for "".
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
