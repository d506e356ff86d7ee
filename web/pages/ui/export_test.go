package ui

// Readable shows what a page does to characters that turn text round.
func Readable(page string) string { return string(readable([]byte(page))) }
