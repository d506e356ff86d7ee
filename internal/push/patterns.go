package push

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Expand lists the files that patterns name, each once, in the order of the patterns and by name within one. Shells of
// Windows pass patterns on as they are. * and ? stand for what is within a name, [ab] for one of several characters, **
// for any folders. What exists by that very name is no pattern.
func Expand(patterns []string) ([]string, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := expand(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if file = filepath.Clean(file); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

// IsPattern reports whether Expand would search for files by the name.
func IsPattern(name string) bool {
	_, err := os.Lstat(name)
	return err != nil && strings.ContainsAny(name, "*?[")
}

func expand(pattern string) ([]string, error) {
	if !IsPattern(pattern) {
		return []string{pattern}, nil
	}
	slashed := filepath.ToSlash(pattern)
	if _, err := path.Match(slashed, ""); err != nil {
		return nil, &Error{Code: CodeNoFile, File: pattern, Message: "the pattern cannot be read", Err: err}
	}
	root, rest := splitRoot(slashed)
	var files []string
	err := filepath.WalkDir(filepath.FromSlash(root), func(file string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return &Error{Code: CodeUnreadable, File: file, Message: "the folder cannot be read", Err: err}
		}
		within, err := filepath.Rel(filepath.FromSlash(root), file)
		if err != nil {
			return err
		}
		elements := strings.Split(filepath.ToSlash(within), "/")
		switch {
		case entry.IsDir():
			if within != "." && !leads(rest, elements) {
				return fs.SkipDir
			}
		case matches(rest, elements):
			files = append(files, file)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = &Error{Code: CodeNoFile, File: pattern, Message: "no file matches",
			Do: "check the folder, and that the step before has made the files"}
	}
	return files, err
}

// splitRoot splits the folders off that stand before the first pattern.
func splitRoot(slashed string) (root string, rest []string) {
	elements := strings.Split(slashed, "/")
	i := slices.IndexFunc(elements, func(e string) bool { return strings.ContainsAny(e, "*?[") })
	root = strings.Join(elements[:i], "/")
	switch {
	case i == 0:
		root = "."
	case root == "" || strings.HasSuffix(root, ":"): // the root of a system or of a drive
		root += "/"
	}
	return root, elements[i:]
}

// matches reports whether the elements of a path are what a pattern says.
func matches(pattern, elements []string) bool {
	if len(pattern) == 0 {
		return len(elements) == 0
	}
	if pattern[0] == "**" {
		return matches(pattern[1:], elements) || len(elements) > 0 && matches(pattern, elements[1:])
	}
	return len(elements) > 0 && matchesName(pattern[0], elements[0]) && matches(pattern[1:], elements[1:])
}

// leads reports whether files below a folder may match a pattern.
func leads(pattern, elements []string) bool {
	switch {
	case len(elements) == 0:
		return len(pattern) > 0
	case len(pattern) == 0:
		return false
	case pattern[0] == "**":
		return true
	}
	return matchesName(pattern[0], elements[0]) && leads(pattern[1:], elements[1:])
}

// matchesName matches without regard to case where the system does so.
func matchesName(pattern, name string) bool {
	if os.PathSeparator == '\\' {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
