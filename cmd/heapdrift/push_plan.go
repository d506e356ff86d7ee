package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// complete takes from the environment what the flags do not say.
func (f *pushFlags) complete(job *ciJob) error {
	c, err := loadConfig()
	if err != nil {
		return &usageError{err.Error()}
	}
	e := &job.environment
	f.url, f.token, f.project = cmp.Or(f.url, c.URL), cmp.Or(f.token, c.Token), cmp.Or(f.project, c.Project, e.Project)
	if f.again && f.run != "" {
		return &usageError{"--again names the run: leave --run out"}
	}
	f.run = cmp.Or(f.run, e.Run, "1")
	f.build = cmp.Or(f.build, e.Build)
	if f.sequence == "" && e.Sequence != nil && !isNumber(f.build) {
		f.sequence = strconv.FormatInt(*e.Sequence, 10)
	}
	f.branch, f.commit = cmp.Or(f.branch, e.Branch), cmp.Or(f.commit, e.Commit)
	switch {
	case f.url == "":
		return &usageError{"no server given: --url, or HEAPDRIFT_URL"}
	case f.project == "":
		return &usageError{"no project given: --project, or HEAPDRIFT_PROJECT"}
	case f.build == "":
		return &usageError{"no build given: --build"}
	case f.wait < 0:
		return &usageError{"--wait: must not be negative"}
	}
	var wrong *leaks.FieldError
	if _, err := leaks.ParseFailOn(f.failOn); errors.As(err, &wrong) {
		return &usageError{"--fail-on: " + wrong.Message}
	}
	if _, err := leaks.ParseAskedThreshold(f.matters); errors.As(err, &wrong) {
		return &usageError{"--matters: " + wrong.Message}
	}
	return nil
}

// isNumber reports whether a build's name is its place as well.
func isNumber(build string) bool {
	_, err := strconv.ParseInt(build, 10, 64)
	return err == nil
}

// plan finds the files and checks what they are sent as.
func (f *pushFlags) plan(ctx context.Context, patterns []string) (*push.Plan, error) {
	if len(patterns) == 0 {
		return nil, &usageError{"no files of evidence given"}
	}
	fields := map[string]string{"project": f.project, "build": f.build, "scenario": f.scenario, "run": f.run,
		"branch": f.branch, "commit": f.commit, "fork": f.fork, "sequence": f.sequence}
	target, err := leaks.UploadTargetOf(func(name string) string { return fields[name] })
	var wrong *leaks.FieldError
	if errors.As(err, &wrong) {
		return nil, &usageError{"--" + wrong.Field + ": " + wrong.Message}
	}
	if err != nil {
		return nil, err
	}
	if target.Ancestors, err = f.readAncestors(); err != nil {
		return nil, err
	}
	p := &push.Plan{Target: target}
	paths, err := push.Expand(patterns)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		p.Evidence = append(p.Evidence, push.File{Path: path})
	}
	if err := f.addWork(p); err != nil {
		return nil, err
	}
	if p.Symbols, err = f.findSymbols(ctx); err != nil {
		return nil, err
	}
	return p, p.Stat()
}

// readAncestors reads the commits of --ancestors, as many of the newest as a server keeps.
func (f *pushFlags) readAncestors() ([]string, error) {
	if f.ancestors == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.ancestors)
	if err != nil {
		return nil, &push.Error{Code: push.CodeNoFile, File: f.ancestors, Message: "cannot read the list of commits", Err: err}
	}
	var lines []string
	for line := range strings.Lines(plainLines(text)) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < leaks.MaxAncestors {
			lines = append(lines, line)
		}
	}
	commits, err := leaks.ParseAncestors(strings.Join(lines, "\n"))
	if err != nil {
		return nil, &usageError{"--ancestors: " + f.ancestors + ": " + err.Error()}
	}
	if len(commits) == 0 {
		return nil, &push.Error{Code: push.CodeNoCommits, File: f.ancestors, Message: "the file has no commits",
			Do: "write it with git rev-list --first-parent -200 HEAD, in a checkout with enough history"}
	}
	return commits, nil
}

// plainLines is the text of a file as UTF-8: Windows PowerShell writes UTF-16 where output is redirected.
func plainLines(text []byte) string {
	if len(text) < 2 || text[0] != 0xFF || text[1] != 0xFE {
		return strings.TrimPrefix(string(text), "\uFEFF")
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(text[i:]))
	}
	return string(utf16.Decode(units))
}

// nameAgain names the run of a push that is one more of its build and scenario.
func (f *pushFlags) nameAgain(ctx context.Context, client *push.Client, p *push.Plan) error {
	name, err := client.FreeRunName(ctx, &p.Target)
	f.run, p.Target.Run = name, cmp.Or(name, p.Target.Run)
	return err
}

// addWork notes, for each file, how much work the process had done by then.
func (f *pushFlags) addWork(p *push.Plan) error {
	if f.work == "" {
		if f.unit != "" {
			return &usageError{"--work-unit needs --work"}
		}
		return nil
	}
	numbers := strings.Split(f.work, ",")
	if len(numbers) != len(p.Evidence) {
		return &usageError{fmt.Sprintf("--work: %s for %s of evidence", quantity.Plural(len(numbers), "number"),
			quantity.Plural(len(p.Evidence), "file"))}
	}
	for i, text := range numbers {
		fields := map[string]string{"project": f.project, "build": f.build, "work": text, "work_unit": f.unit}
		t, err := leaks.UploadTargetOf(func(name string) string { return fields[name] })
		if err != nil {
			return &usageError{"--work: " + err.Error()}
		}
		if t.Work == nil {
			return &usageError{"--work: a number is missing between commas"}
		}
		p.Evidence[i].Work, p.Target.WorkUnit = t.Work, t.WorkUnit
	}
	return nil
}

// findSymbols lists the files of symbols: what patterns name, and what folders hold that begins as symbols do. A
// pattern that names other files too, as out/* does, is one for the symbols among them.
func (f *pushFlags) findSymbols(ctx context.Context) ([]push.File, error) {
	var files []push.File
	for _, pattern := range f.symbols {
		sought := push.IsPattern(pattern)
		paths, err := push.Expand([]string{pattern})
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(pattern); !sought && err == nil && info.IsDir() {
			found, err := findSymbols(ctx, paths)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, &push.Error{Code: push.CodeNoFile, File: pattern, Message: "the folder has no PDBs and no images",
					Do: "check that the build writes them there"}
			}
			sought, paths = true, nil
			for _, file := range found {
				paths = append(paths, file.path)
			}
		}
		for _, path := range paths {
			path = filepath.Clean(path)
			if !slices.ContainsFunc(files, func(other push.File) bool { return other.Path == path }) {
				files = append(files, push.File{Path: path, Sought: sought})
			}
		}
	}
	return files, nil
}
