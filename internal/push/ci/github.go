package ci

import (
	"errors"
	"fmt"
	"strings"
)

// github is GitHub Actions. Run numbers count within a workflow, run ids over all of a repository.
var github = System{
	Name: "GitHub Actions", marker: "GITHUB_ACTIONS",
	read: func(get Getenv) Environment {
		e := Environment{
			Project: lastElement(get("GITHUB_REPOSITORY")), Build: numbered(get("GITHUB_RUN_NUMBER"), get("GITHUB_SHA")),
			Sequence: whole(get("GITHUB_RUN_ID")),
			Run:      get("GITHUB_RUN_ATTEMPT"), Branch: get("GITHUB_HEAD_REF"), Commit: get("GITHUB_SHA"),
			Root: get("GITHUB_WORKSPACE"),
		}
		if e.Branch == "" && get("GITHUB_REF_TYPE") != "tag" {
			e.Branch = branchOf(get("GITHUB_REF"))
		}
		if number, ok := strings.CutPrefix(get("GITHUB_REF"), "refs/pull/"); ok {
			e.PullRequest, _, _ = strings.Cut(number, "/")
		}
		if server, id := get("GITHUB_SERVER_URL"), get("GITHUB_RUN_ID"); server != "" && id != "" {
			e.Link = server + "/" + get("GITHUB_REPOSITORY") + "/actions/runs/" + id
		}
		return e
	},
	annotate: func(n Note) string {
		place := ""
		if n.File != "" {
			place = fmt.Sprintf("file=%s,line=%d,", githubProperty(n.File), max(n.Line, 1))
		}
		return fmt.Sprintf("::%s %stitle=%s::%s", n.Level, place, githubProperty(n.Title), githubText(n.Text))
	},
	open:  func(_, title string, _ int64) string { return "::group::" + githubText(title) },
	close: func(_, _ string, _ int64) string { return "::endgroup::" },
	summarize: func(get Getenv, s *Summary) (lines []string, err error) {
		if file := get("GITHUB_STEP_SUMMARY"); file != "" {
			err = appendTo(file, s.Markdown+"\n")
		}
		if file := get("GITHUB_OUTPUT"); file != "" {
			var text strings.Builder
			for _, v := range s.Outputs {
				fmt.Fprintf(&text, "%s=%s\n", v.Name, oneLine(v.Text))
			}
			err = errors.Join(err, appendTo(file, text.String()))
		}
		return nil, err
	},
}

func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
