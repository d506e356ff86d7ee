package ui

import (
	"hash/fnv"
	"strings"
	"unicode"
)

// Initials are the initials of the first and the last word of a name, or the first two letters of the only word.
func Initials(name string) string {
	name, _, _ = strings.Cut(name, "@") // of an address the person, and not where the mail goes
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch len(words) {
	case 0:
		return "?"
	case 1:
		letters := []rune(words[0])
		return strings.ToUpper(string(letters[:min(2, len(letters))]))
	}
	first, last := []rune(words[0]), []rune(words[len(words)-1])
	return strings.ToUpper(string(first[:1]) + string(last[:1]))
}

// avatarColours is how many grounds initials have.
const avatarColours = 4

// avatarClass gives each name its ground, the same on every page.
func avatarClass(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it cannot fail
	return "av-" + string(rune('1'+h.Sum32()%avatarColours))
}
