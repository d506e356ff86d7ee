package main

import (
	"os"
	"strings"
)

// elevatedLines are the lines for a console of an administrator that do what this call was to do: such a console begins
// in a folder of Windows. cmd and PowerShell read them alike where the program's path has no blank.
func elevatedLines() []string {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return linesOf(dir, program, os.Args[1:])
}

// tokenFlag is a flag whose value is a secret, which is not printed.
const tokenFlag = "token"

func linesOf(dir, program string, args []string) []string {
	words := []string{argument(program)}
	for i, arg := range args {
		switch name, _, given := strings.Cut(strings.TrimLeft(arg, "-"), "="); {
		case given && name == tokenFlag && strings.HasPrefix(arg, "-"):
			arg = "--" + tokenFlag + "=TOKEN"
		case i > 0 && strings.HasPrefix(args[i-1], "-") && strings.TrimLeft(args[i-1], "-") == tokenFlag:
			arg = "TOKEN"
		}
		words = append(words, argument(arg))
	}
	return []string{"pushd " + argument(dir), strings.Join(words, " ")}
}

// argument is a word of a command line, by the rules of CommandLineToArgvW.
func argument(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\"&|<>^()") {
		return word
	}
	var b strings.Builder
	slashes := 0
	for _, r := range word {
		switch r {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1)) // each of them doubled, and one for the mark
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteRune(r)
	}
	return `"` + b.String() + strings.Repeat(`\`, slashes) + `"`
}
