package leaks

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// SourceLinks say where source files of a project can be read that PDBs name by their places on a build machine.
type SourceLinks struct {
	text  string
	links []sourceLink // the longest folder first
}

// A sourceLink is one line: a folder, in lower case with slashes, and the address of what lies in it.
type sourceLink struct{ folder, template string }

// Fields of templates.
const (
	fieldPath   = "{path}" // behind the folder, with slashes
	fieldLine   = "{line}"
	fieldBuild  = "{build}"
	fieldBranch = "{branch}"
)

const mostSourceLinks, longestSourceLink = 100, 2000

// ParseSourceLinks reads lines of a folder, white space and a template. Empty lines, and those that begin with #, are left out. Its error is a
// *FieldError that names the line.
func ParseSourceLinks(text string) (SourceLinks, error) {
	s := SourceLinks{text: strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")}
	for i, line := range strings.Split(s.text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexAny(line, " \t")
		switch {
		case len(s.links) == mostSourceLinks:
			return SourceLinks{}, wrongField("sources", "more than %d folders", mostSourceLinks)
		case len(line) > longestSourceLink:
			return SourceLinks{}, wrongField("sources", "line %d is longer than %d characters", i+1, longestSourceLink)
		case at < 0:
			return SourceLinks{}, wrongField("sources", "line %d: write a folder, a blank and an address, as in c:\\src\\app https://git.example/app/blob/{build}/{path}#L{line}", i+1)
		}
		link := sourceLink{strings.TrimSuffix(slashed(strings.TrimSpace(line[:at])), "/") + "/", line[at+1:]}
		address, err := url.Parse(strings.NewReplacer(fieldPath, "p", fieldLine, "1", fieldBuild, "b", fieldBranch, "b").Replace(link.template))
		if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" || address.User != nil {
			return SourceLinks{}, wrongField("sources", "line %d: %s is no address that begins with https:// or http://", i+1, link.template)
		}
		if !strings.Contains(link.template, fieldPath) {
			return SourceLinks{}, wrongField("sources", "line %d: the address lacks {path}, which stands for the file", i+1)
		}
		s.links = append(s.links, link)
	}
	slices.SortStableFunc(s.links, func(a, b sourceLink) int { return len(b.folder) - len(a.folder) })
	return s, nil
}

// String is the text that the links were read from.
func (s SourceLinks) String() string { return s.text }

func slashed(path string) string { return strings.ToLower(strings.ReplaceAll(path, `\`, "/")) }

// URL is where a line of a file can be read, in a build of a branch; "" where no folder has the file, or where its path leads out of its
// folder. Folders are compared as Windows does, and the longest counts.
func (s SourceLinks) URL(file string, line uint32, build, branch string) string {
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
			parts[i] = url.PathEscape(parts[i])
		}
		return strings.NewReplacer(fieldPath, strings.Join(parts, "/"), fieldLine, strconv.FormatUint(uint64(line), 10),
			fieldBuild, url.PathEscape(build), fieldBranch, url.PathEscape(branch)).Replace(link.template)
	}
	return ""
}
