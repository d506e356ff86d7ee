package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"heapdrift/internal/memory"
)

// Exit codes that scripts rely on.
const (
	exitOK           = 0
	exitLeak         = 1
	exitUsage        = 2
	exitInput        = 3 // input unreadable, or the server could not run
	exitInconclusive = 4
	exitSettings     = 5 // settings of Windows could not be set or restored
)

// streams are what a command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	// budget is how much memory the command may take.
	budget *memory.Budget
	// elevated says that Windows has restarted the command as administrator, in the console of its parent.
	elevated bool
}

// A command is one subcommand. run returns the exit code; an error is printed and ends with exitInput unless it
// is a usage error.
type command struct {
	name, arguments, summary string
	run                      func(ctx context.Context, args []string, s streams) (int, error)
	server                   bool // each of its jobs has the budget, instead of the command
}

// commands lists what this program can do. It is a function because help refers to it.
func commands() []command { return slices.Concat(clientCommands(), serverCommands(), aboutCommands()) }

// clientCommands need no server of their own. The client, which is built with the tag client, has these alone.
func clientCommands() []command {
	return []command{
		{"analyze", "[flags] FILE…", "analyse evidence without a server; - is the standard input", analyze, false},
		{"record", "[flags] -- PROGRAM [ARGS…] | --undo | --status | --self-test",
			"record evidence of a program on Windows, then analyse or push it", recordEvidence, false},
		{"mark", "[--dir DIR] [N]", "tell a recording that its program has done work, N in total, and wait for the snapshot", mark, false},
		{"watch", "[flags] --image app.exe", "record every run of a program on Windows, without an end", watch, false},
		{"snapshot", "--pid N [-o FILE.hdsnap] [--pause-limit 2s] [flags]",
			"take a snapshot of the heaps of a process on this Windows", takeSnapshot, false},
		{"kit", "--project P --image app.exe --evidence K [--scenario S] [-o DIR]",
			"write scripts that record a process on a Windows machine without heapdrift", writeKit, false},
		{"push", "--url U --project P --build B [flags] FILE…",
			"send evidence to a server from a CI job, and wait for the verdict", pushEvidence, false},
		{"builds set", "[--project P] BUILD [--branch X] [--commit C] [--name N] [--sequence N] [--fork B]",
			"correct the data of a build", buildsSet, false},
		{"projects set", "[--project P] [--default-branch X] [--name N]", "set the default branch of a project, or rename the project",
			projectsSet, false},
		{"leaks list", "[--project P] [flags]", "list the leaks of a project on a server", leaksList, false},
		{"leaks accept", "[--project P] [flags] SIG…", "mark leaks of a project as known: they fail no gate", leaksAccept, false},
		{"leaks assign", "[--project P] SIG… --to WHO", "assign leaks of a project to a team or a person", leaksAssign, false},
		{"suppressions import", "[--project P] FILE", "mark the leaks that LSan, Valgrind or Dr. Memory suppress as known in a project",
			suppressionsImport, false},
		{"suppressions export", "[--project P] --form lsan|valgrind|drmemory [-o FILE]",
			"write the known leaks of a project as suppressions", suppressionsExport, false},
		{"symbols add", "[--url U] DIR|FILE…", "send PDBs, images and archives of them to a server", symbolsAdd, false},
		{"symbols lookup", "PDB|PE [ADDR…]", "print the functions and lines at addresses of a PDB or image (RVAs, hexadecimal)",
			symbolsLookup, false},
		{"symbols undname", "[flags] [NAME…]", "undecorate C++ names", symbolsUndname, false},
		{"etl census", "[--format json] FILE…", "count the events of a trace, for bug reports; several files are one trace",
			etlCensus, false},
		{"update", "[--url U]", "replace this client by the one of a server, after checking its digest", updateProgram, false},
	}
}

// serverNames are the commands that the client does not have.
var serverNames = []string{"up", "serve", "work", "setup-link", "migrate", "sweep", "backup", "restore", "health"}

// aboutCommands tell about the program.
func aboutCommands() []command {
	return []command{
		{"version", "[--format json]", "print the version, commit, Go version and schema",
			version, false},
		{"licenses", "", "print the licences of all parts of this program", printLicenses, false},
		{"help", "[env]", "print this help, or the environment variables", help, false},
	}
}

// nameWords is how many words the names of commands have that begin with this one.
func nameWords(first string) int {
	for _, c := range commands() {
		if strings.HasPrefix(c.name, first+" ") {
			return 2
		}
	}
	return 1
}

// usageError is an error in the command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	if len(args) == 0 {
		args = []string{"help"}
	}
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) < len(words) || !slices.Equal(args[:len(words)], words) {
			continue
		}
		ctx, rest, s, err := adopt(ctx, args[len(words):], s)
		code := exitInput
		if err == nil {
			code, err = c.within(ctx, rest, s)
		}
		var usage *usageError
		switch {
		case errors.Is(err, flag.ErrHelp):
			return exitOK
		case errors.As(err, &usage):
			fmt.Fprintf(s.err, "heapdrift %s: %v\nusage: heapdrift %s %s\n", c.name, err, c.name, c.arguments)
			return exitUsage
		case err != nil:
			fmt.Fprintf(s.err, "heapdrift: %v\n", err)
			return max(code, exitInput)
		}
		return code
	}
	if isHelp(args[0]) {
		_, _ = help(ctx, nil, s)
		return exitOK
	}
	if nameWords(args[0]) > 1 && (len(args) == 1 || isHelp(args[1])) {
		return helpGroup(args, s)
	}
	name := strings.Join(args[:min(len(args), nameWords(args[0]))], " ")
	if slices.Contains(serverNames, name) {
		fmt.Fprintf(s.err, "heapdrift: the client has no command %q; run it with the full program\n", name)
		return exitUsage
	}
	fmt.Fprintf(s.err, "heapdrift: no command %q; heapdrift help lists them\n", name)
	return exitUsage
}

// within runs the command within its budget of memory.
func (c *command) within(ctx context.Context, args []string, s streams) (code int, err error) {
	var limit memory.Size
	if text := os.Getenv(memoryEnv); text != "" {
		if err := limit.Set(text); err != nil && c.name != "help" { // which explains the variable
			return exitUsage, &usageError{memoryEnv + ": " + err.Error()}
		}
	}
	s.budget = memory.NewBudget(limit)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	go s.budget.Enforce(watched)
	if c.server {
		s.budget.LargePages(s.budget.Limit())
		return c.run(ctx, args, s)
	}
	err = s.budget.Do(ctx, func(ctx context.Context) (err error) {
		code, err = c.run(ctx, args, s)
		return err
	})
	return code, err
}

// memoryEnv is the variable of the budget.
const memoryEnv = "HEAPDRIFT_MEMORY"

func help(_ context.Context, args []string, s streams) (int, error) {
	if len(args) == 1 && args[0] == "env" {
		return exitOK, printEnv(s.out)
	}
	fmt.Fprint(s.out, "heapdrift finds native memory leaks of Windows programs in UMDH logs, ETW traces and dumps, and remembers them.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(s.out, "  heapdrift %-32s %s\n", c.name+" "+c.arguments, c.summary)
	}
	return exitOK, nil
}

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == "-help" }

// helpGroup lists the commands that begin with the same word. Without a request for help one of them is missing.
func helpGroup(args []string, s streams) int {
	out, code := s.out, exitOK
	if len(args) == 1 {
		out, code = s.err, exitUsage
		fmt.Fprintf(out, "heapdrift: no command %q alone:\n", args[0])
	}
	for _, c := range commands() {
		if strings.HasPrefix(c.name, args[0]+" ") {
			fmt.Fprintf(out, "  heapdrift %-32s %s\n", c.name+" "+c.arguments, c.summary)
		}
	}
	return code
}

// printUsage prints what a command takes, with its flags.
func printUsage(flags *flag.FlagSet, s streams) {
	for _, c := range commands() {
		if c.name == flags.Name() {
			fmt.Fprintf(s.err, "usage: heapdrift %s %s\n%s\n\n", c.name, c.arguments, c.summary)
		}
	}
	flags.PrintDefaults()
}

// parse parses flags that may stand before, between and behind the other arguments, which it returns.
func parse(flags *flag.FlagSet, args []string, s streams) ([]string, error) {
	flags.SetOutput(s.err)
	flags.Usage = func() { printUsage(flags, s) }
	var limit memory.Size
	flags.Var(&limit, "memory",
		"memory limit, for example `512M`; beyond it the command ends with exit code 3 (default HEAPDRIFT_MEMORY, else 3/4 of the machine's memory, at most 4G)")
	defer func() {
		if limit != 0 && s.budget != nil {
			s.budget.SetLimit(limit)
		}
	}()
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, &usageError{err.Error()}
		}
		args = flags.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

// isTerminal reports whether progress may be drawn on w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
