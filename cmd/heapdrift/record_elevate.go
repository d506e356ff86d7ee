package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"heapdrift/internal/record/elevate"
	"heapdrift/internal/record/target"
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

// An elevation is what a command has to do with the rights of an administrator.
type elevation struct {
	// elevate restarts the command as administrator where it needs one; elevated says that this has happened.
	elevate, elevated bool
	command           []string // its name and arguments, as they were given
}

// adopt makes a command that Windows has restarted as administrator one of its parent's console, which has its errors
// then, too.
func adopt(ctx context.Context, args []string, s streams) (context.Context, []string, streams, error) {
	name, rest := elevate.Parent(args)
	if name == "" {
		return ctx, args, s, nil
	}
	ctx, in, out, errs, err := elevate.Adopt(ctx, name)
	if err != nil {
		return ctx, rest, s, err
	}
	return ctx, rest, streams{in: in, out: out, err: errs, elevated: true}, nil
}

// system are the processes of this machine.
func (f *elevation) system() target.System {
	if f.elevated {
		return administrator{target.Windows{}}
	}
	return target.Windows{}
}

// An administrator is a machine whose user has been asked for the rights of one: there is nothing more to ask for, and
// Windows refuses by itself what it does not allow.
type administrator struct{ target.System }

// Elevated implements target.System.
func (administrator) Elevated() bool { return true }

// restart continues the command as administrator, in this console.
func (f *elevation) restart(ctx context.Context, s streams) (int, error) {
	fmt.Fprintf(s.err, "%-10s restarting as administrator, which Windows asks you for\n", "elevate")
	command, token := withoutToken(f.command)
	var more []string
	if token != "" {
		more = append(more, "HEAPDRIFT_TOKEN="+token)
	}
	code, err := elevate.Restart(ctx, command, more, s.in, s.out, s.err)
	if err != nil {
		return exitSettings, err
	}
	return code, nil
}

// withoutToken takes the token out of a command: every program of the machine can read its line.
func withoutToken(command []string) (rest []string, token string) {
	for i := 0; i < len(command); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(command[i], "-"), "=")
		switch {
		case command[i] == "--": // the program and its arguments
			return append(rest, command[i:]...), token
		case name != tokenFlag || !strings.HasPrefix(command[i], "-"):
			rest = append(rest, command[i])
		case given:
			token = value
		case i+1 < len(command):
			i++
			token = command[i]
		}
	}
	return rest, token
}

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
