package ui

import (
	"strings"

	"github.com/labstack/echo/v4"
)

// An IgnoredChoice is a choice of an address that the page does not know: it shows the default instead, and says so.
type IgnoredChoice struct{ Name, Value, Shown string }

// longestChoice is how much of an unknown value a page repeats.
const longestChoice = 40

// IgnoredChoiceIn reads the parameter name of an address. ok is false where it is absent or isKnown; shown says what
// the page shows instead, as in "the view Ranked".
func IgnoredChoiceIn(c echo.Context, name, shown string,
	isKnown func(value string) bool) (choice IgnoredChoice, ok bool) {
	value := Printable(c.QueryParam(name))
	if value == "" || isKnown(value) {
		return choice, false
	}
	if runes := []rune(value); len(runes) > longestChoice {
		value = string(runes[:longestChoice]) + "…"
	}
	return IgnoredChoice{name, value, shown}, true
}

// String says it in a sentence.
func (i IgnoredChoice) String() string {
	return strings.ToUpper(i.Name[:1]) + i.Name[1:] + " “" + i.Value + "” of the address is unknown: this is " + i.Shown + "."
}
