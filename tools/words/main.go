// Command words checks the English of what users read: pages, messages of the command line, problems and description of
// the API, and documents. "make lint" runs it at the root of the repository:
//
//	go run ./tools/words
//
// It prints FILE:LINE, the text, and what to write instead, and exits with 1 when it found anything. The table in
// held.go lists the files that it reads; glossary.go and rules.go are the rules. Arguments replace the table of files.
// With -list it prints every text that it reads, so that a person can read a package in one go:
//
//	go run ./tools/words -list 'web/pages/run/*.templ'
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
)

func main() {
	list := flag.Bool("list", false, "print the texts of the files, without checking them")
	flag.Parse()
	if *list {
		if err := printTexts(os.Stdout, os.DirFS("."), flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "words:", err)
			os.Exit(2)
		}
		return
	}
	reports, err := check(os.DirFS("."), held(flag.Args()), exceptions)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	for _, r := range reports {
		fmt.Println(r)
	}
	if len(reports) > 0 {
		fmt.Printf("%d texts to mend. What the tool misjudges goes to tools/words/exceptions.go, with the reason.\n",
			len(reports))
		os.Exit(1)
	}
}

// held is the patterns of the files to check: those of the command line, else the table.
func held(arguments []string) []string {
	if len(arguments) > 0 {
		return arguments
	}
	return heldFiles
}

func printTexts(out io.Writer, files filesystem, patterns []string) error {
	names, err := match(files, held(patterns))
	if err != nil {
		return err
	}
	for _, name := range names {
		texts, err := read(files, name)
		if err != nil {
			return err
		}
		for _, t := range texts {
			fmt.Fprintf(out, "%s:%d: %s%s\n", t.file, t.line, t.role.mark(), t.words)
		}
	}
	return nil
}

// A report is one text that breaks a rule.
type report struct {
	file    string
	line    int
	message string
}

func (r report) String() string { return fmt.Sprintf("%s:%d: %s", r.file, r.line, r.message) }

// check reads the files that the patterns name and reports what breaks a rule, and exceptions that no text needs.
func check(files filesystem, patterns []string, exceptions []exception) ([]report, error) {
	names, err := match(files, patterns)
	if err != nil {
		return nil, err
	}
	var reports []report
	used := make([]bool, len(exceptions))
	for _, name := range names {
		texts, err := read(files, name)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			for _, fault := range t.faults() {
				if i := slices.IndexFunc(exceptions, func(e exception) bool { return e.covers(t, fault) }); i >= 0 {
					used[i] = true
					continue
				}
				reports = append(reports, report{t.file, t.line, fault.String() + "\n\t" + t.words})
			}
		}
	}
	for i, e := range exceptions {
		if !used[i] && slices.ContainsFunc(names, e.applies) {
			reports = append(reports, report{"tools/words/exceptions.go", 1,
				fmt.Sprintf("no text needs this exception: %s: %q", e.file, e.words)})
		}
	}
	return reports, nil
}

// applies reports whether the exception is about the file.
func (e exception) applies(file string) bool {
	matched, _ := path.Match(e.file, file)
	return matched
}
