// Package elevate restarts a command with the rights of an administrator, and leaves it in its console:
//
//	parent                                     child, as administrator
//	Restart ── ShellExecuteEx "runas" ──────→  heapdrift record --elevated-from=PIPE …
//	PIPE-control   folder, environment  ────→  Adopt; its end interrupts the child
//	PIPE-in        standard input       ────→
//	PIPE-out, -err standard output, errors  ←
//
// Windows gives such a process a console of its own and the environment of a new session. The four pipes give it those
// of its parent. When the parent ends, the child is interrupted, and so restores what it has changed.
package elevate

import (
	"errors"
	"slices"
	"strings"
)

// flag names the pipes on the command line of the child. It stands before all other flags.
const flag = "--elevated-from="

// Parent takes the name of the parent's pipes out of the arguments of a command; "" where nobody has restarted it.
func Parent(args []string) (name string, rest []string) {
	if len(args) > 0 {
		if name, ok := strings.CutPrefix(args[0], flag); ok {
			return name, args[1:]
		}
	}
	return "", args
}

// The errors of a restart.
var (
	ErrUnsupported = errors.New("elevate: only Windows restarts a program as administrator")
	ErrRefused     = errors.New("elevate: the restart as administrator was refused")
	errName        = errors.New("elevate: this is not the name of a parent's pipes")
)

// pipeFolder is where Windows has the pipes of this machine; pipePrefix begins our names.
const pipeFolder, pipePrefix = `\\.\pipe\`, "heapdrift-"

// checkName refuses what Restart does not write. An administrator who opened a file on another machine would log in
// there.
func checkName(name string) error {
	random, ok := strings.CutPrefix(name, pipePrefix)
	if !ok || random == "" || strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return errName
	}
	return nil
}

// own are variables that the child keeps: whoever sets them says from where programs of the system are started.
var own = []string{"SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "COMSPEC", "PROGRAMDATA", "ALLUSERSPROFILE", "PROGRAMFILES",
	"PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432"}

// adopted are the variables that the child takes over.
func adopted(environment []string) (names [][2]string) {
	for _, line := range environment {
		name, value, ok := strings.Cut(line, "=")
		if ok && name != "" && !slices.Contains(own, strings.ToUpper(name)) {
			names = append(names, [2]string{name, value})
		}
	}
	return names
}
