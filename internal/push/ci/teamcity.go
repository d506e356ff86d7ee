package ci

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
)

// teamcity is TeamCity. Build numbers count within a configuration, build ids over all of a server; these and the
// branch stand in a file of properties that a file of properties names.
var teamcity = System{
	Name: "TeamCity", marker: "TEAMCITY_VERSION",
	read: func(get Getenv) Environment {
		build := properties(get("TEAMCITY_BUILD_PROPERTIES_FILE"))
		configuration := properties(build["teamcity.configuration.properties.file"])
		e := Environment{
			Project: get("TEAMCITY_PROJECT_NAME"), Build: numbered(get("BUILD_NUMBER"), get("BUILD_VCS_NUMBER")),
			Sequence: whole(first(configuration["teamcity.build.id"], build["teamcity.build.id"])),
			Branch:   branchOf(first(configuration["teamcity.build.branch"], configuration["vcsroot.branch"])),
			Commit:   get("BUILD_VCS_NUMBER"), Link: get("BUILD_URL"),
			Root: build["teamcity.build.checkoutDir"], PullRequest: configuration["teamcity.pullRequest.number"],
		}
		if e.Branch == "<default>" {
			e.Branch = branchOf(configuration["vcsroot.branch"])
		}
		if server := configuration["teamcity.serverUrl"]; e.Link == "" && server != "" && e.Sequence != nil {
			e.Link = strings.TrimRight(server, "/") + "/viewLog.html?buildId=" + strconv.FormatInt(*e.Sequence, 10)
		}
		return e
	},
	annotate: func(n Note) string {
		place := ""
		if n.File != "" {
			place = fmt.Sprintf(" (%s:%d)", n.File, max(n.Line, 1))
		}
		if n.Level == LevelError { // fails the build, once for each identity
			return fmt.Sprintf("##teamcity[buildProblem identity='%s' description='%s']", teamcityText(identity(n.Identity)),
				teamcityText(n.Title+": "+n.Text+place))
		}
		return fmt.Sprintf("##teamcity[message status='WARNING' text='%s']", teamcityText(n.Title+": "+n.Text+place))
	},
	open: func(_, title string, _ int64) string {
		return "##teamcity[blockOpened name='" + teamcityText(title) + "']"
	},
	close: func(_, title string, _ int64) string {
		return "##teamcity[blockClosed name='" + teamcityText(title) + "']"
	},
	summarize: func(_ Getenv, s *Summary) (lines []string, err error) {
		lines = append(lines, "##teamcity[buildStatus text='{build.status.text}, "+teamcityText(s.Sentence)+"']")
		for _, v := range s.Outputs {
			lines = append(lines, fmt.Sprintf("##teamcity[setParameter name='heapdrift.%s' value='%s']", teamcityText(v.Name),
				teamcityText(oneLine(v.Text))))
		}
		for _, c := range s.Counts {
			lines = append(lines,
				fmt.Sprintf("##teamcity[buildStatisticValue key='heapdrift.%s' value='%d']", teamcityText(c.Name), c.N))
		}
		return lines, nil
	},
}

// identity cuts an identity to the 60 characters that TeamCity takes.
func identity(text string) string { return text[:min(len(text), 60)] }

func teamcityText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("|'[]", r):
			b.WriteByte('|')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString("|n")
		case r == '\r':
			b.WriteString("|r")
		case r > 126:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, "|0x%04X", unit)
			}
		case r >= ' ':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// properties reads a file of Java properties, as far as TeamCity writes them; empty where there is none.
func properties(path string) map[string]string {
	values := map[string]string{}
	if path == "" {
		return values
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return values // they say more of the build, and nothing that must be there
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if key, value, ok := cutProperty(line); ok {
			values[unescape(key)] = unescape(value)
		}
	}
	return values
}

// cutProperty cuts a line at its first = or : that no backslash stands before.
func cutProperty(line string) (key, value string, ok bool) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=', ':':
			return strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:]), true
		}
	}
	return "", "", false
}

// unescape resolves the backslashes of a property.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'u':
			if i+4 < len(s) {
				if n, err := strconv.ParseUint(s[i+1:i+5], 16, 16); err == nil {
					b.WriteRune(rune(n))
					i += 4
				}
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
