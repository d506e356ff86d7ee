package leaks

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"heapdrift/ingest/sorting"
)

// SourceLinks make web addresses of source files, which PDBs name by their paths on a build machine, and of the changes
// between two commits.
type SourceLinks struct {
	files, commits string       // as people wrote them
	links          []sourceLink // the longest folder first
}

// A sourceLink is one line: a folder, in lower case with slashes, and the address of what lies in it.
type sourceLink struct{ folder, template string }

// Fields of templates.
const (
	fieldPath   = "{path}" // behind the folder, with slashes
	fieldLine   = "{line}"
	fieldBuild  = "{build}"
	fieldBranch = "{branch}"
	fieldBase   = "{base}"
	fieldHead   = "{head}"
)

const mostSourceLinks, longestSourceLink = 100, 2000

// ParseSourceLinks reads files, lines of a folder, white space and a template of an address; empty lines and those that
// begin with # are left out. commits is the template of the address of the changes between two commits, "" for none.
// Its error is a *FieldError that names the line.
func ParseSourceLinks(files, commits string) (SourceLinks, error) {
	clean, err := NormalizeLines(files)
	var wrong *FieldError
	if errors.As(err, &wrong) {
		return SourceLinks{}, wrongField("sources", "%s", wrong.Message)
	}
	s := SourceLinks{files: strings.TrimRight(clean, " \t\n"), commits: strings.TrimSpace(commits)}
	switch {
	case s.commits == "":
	case utf8.RuneCountInString(s.commits) > longestSourceLink:
		return SourceLinks{}, wrongField("commits", "the address is longer than %d characters", longestSourceLink)
	case !IsSingleLine(s.commits) || !isTemplate(s.commits):
		return SourceLinks{},
			wrongField("commits", "%s does not begin with https:// or http://", strings.ToValidUTF8(s.commits, "�"))
	case !strings.Contains(s.commits, fieldBase) || !strings.Contains(s.commits, fieldHead):
		return SourceLinks{}, wrongField("commits", "the address lacks {base} or {head}, which stand for the commits")
	}
	for i, line := range strings.Split(s.files, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexAny(line, " \t")
		switch {
		case len(s.links) == mostSourceLinks:
			return SourceLinks{}, wrongField("sources", "more than %d folders", mostSourceLinks)
		case utf8.RuneCountInString(line) > longestSourceLink:
			return SourceLinks{}, wrongField("sources", "line %d is longer than %d characters", i+1, longestSourceLink)
		case at < 0:
			return SourceLinks{},
				wrongField("sources",
					"line %d: write a folder, a blank and an address, as in c:\\src\\app https://git.example/app/blob/{build}/{path}#L{line}", i+1)
		}
		link := sourceLink{strings.TrimSuffix(slashed(strings.TrimSpace(line[:at])), "/") + "/", line[at+1:]}
		if !isTemplate(link.template) {
			return SourceLinks{},
				wrongField("sources", "line %d: %s does not begin with https:// or http://", i+1, link.template)
		}
		if !strings.Contains(link.template, fieldPath) {
			return SourceLinks{}, wrongField("sources", "line %d: the address lacks {path}, which stands for the file", i+1)
		}
		s.links = append(s.links, link)
	}
	sorting.Stable(s.links, func(a, b sourceLink) int { return len(b.folder) - len(a.folder) })
	return s, nil
}

// isTemplate reports whether a text is an address once its fields are filled in.
func isTemplate(text string) bool {
	address, err := url.Parse(strings.NewReplacer(fieldPath, "x", fieldLine, "1", fieldBuild, "x", fieldBranch, "x",
		fieldBase, "x", fieldHead, "x").Replace(text))
	return err == nil && (address.Scheme == "https" || address.Scheme == "http") &&
		address.Host != "" && address.User == nil
}

// escaped is a text as part of a path or of a value in an address.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// FilesText is the text that ParseSourceLinks read as files.
func (s SourceLinks) FilesText() string { return s.files }

// CommitTemplate is the template of the address of the changes between two commits.
func (s SourceLinks) CommitTemplate() string { return s.commits }

// CompareURL is the address of the changes between two commits; "" where one of them is unknown, or they are the same.
func (s SourceLinks) CompareURL(base, head string) string {
	if s.commits == "" || base == "" || head == "" || base == head {
		return ""
	}
	return strings.NewReplacer(fieldBase, escaped(base), fieldHead, escaped(head)).Replace(s.commits)
}

func slashed(path string) string { return strings.ToLower(strings.ReplaceAll(path, `\`, "/")) }

// FileURL is the address of a line of a source file, in a build of a branch; "" where no folder has the file, or where
// its path leads out of its folder. Folders are compared as Windows does, and the longest counts.
func (s SourceLinks) FileURL(file string, line uint32, build, branch string) string {
	lower := slashed(file)
	for _, link := range s.links {
		if !strings.HasPrefix(lower, link.folder) || len(lower) != len(file) { // a letter that lower case makes longer
			continue
		}
		parts := strings.Split(strings.ReplaceAll(file[len(link.folder):], `\`, "/"), "/")
		if slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." }) {
			return ""
		}
		for i := range parts {
			parts[i] = escaped(parts[i])
		}
		return strings.NewReplacer(fieldPath, strings.Join(parts, "/"), fieldLine, strconv.FormatUint(uint64(line), 10),
			fieldBuild, escaped(build), fieldBranch, escaped(branch)).Replace(link.template)
	}
	return ""
}
