package ci

import (
	"fmt"
	"os"
	"strings"
)

// azure is Azure Pipelines. Build ids count over all of an organisation, build numbers are what people see.
var azure = System{
	Name: "Azure Pipelines", marker: "TF_BUILD",
	read: func(get Getenv) Environment {
		e := Environment{
			Project:  first(lastElement(get("BUILD_REPOSITORY_NAME")), get("SYSTEM_TEAMPROJECT")),
			Build:    numbered(get("BUILD_BUILDNUMBER"), get("BUILD_SOURCEVERSION")),
			Sequence: whole(get("BUILD_BUILDID")), Run: get("SYSTEM_JOBATTEMPT"),
			Branch: branchOf(first(get("SYSTEM_PULLREQUEST_SOURCEBRANCH"), get("BUILD_SOURCEBRANCH"))),
			Commit: get("BUILD_SOURCEVERSION"), Root: get("BUILD_SOURCESDIRECTORY"),
			PullRequest: first(get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER"), get("SYSTEM_PULLREQUEST_PULLREQUESTID")),
		}
		if collection, id := get("SYSTEM_COLLECTIONURI"), get("BUILD_BUILDID"); collection != "" && id != "" {
			e.Link = strings.TrimRight(collection, "/") + "/" + strings.ReplaceAll(get("SYSTEM_TEAMPROJECT"), " ", "%20") +
				"/_build/results?buildId=" + id
		}
		return e
	},
	annotate: func(n Note) string {
		place := ""
		if n.File != "" {
			place = fmt.Sprintf("sourcepath=%s;linenumber=%d;columnnumber=1;", azureProperty(n.File), max(n.Line, 1))
		}
		return fmt.Sprintf("##vso[task.logissue type=%s;%scode=%s;]%s", n.Level, place, azureProperty(n.Code),
			azureText(n.Title+": "+n.Text))
	},
	open:  func(_, title string, _ int64) string { return "##[group]" + oneLine(title) },
	close: func(_, _ string, _ int64) string { return "##[endgroup]" },
	summarize: func(get Getenv, s *Summary) (lines []string, err error) {
		for _, v := range s.Outputs {
			lines = append(lines, fmt.Sprintf("##vso[task.setvariable variable=heapdrift_%s;isOutput=true]%s",
				azureProperty(v.Name), azureText(oneLine(v.Text))))
		}
		dir := get("AGENT_TEMPDIRECTORY")
		if dir == "" {
			return lines, nil
		}
		// The agent takes the file after the step has ended, so it stays; the agent empties the folder.
		file, err := os.CreateTemp(dir, "heapdrift-*.md")
		if err != nil {
			return lines, fmt.Errorf("summary: %w", err)
		}
		name := file.Name()
		if err := file.Close(); err != nil {
			return lines, fmt.Errorf("summary: %w", err)
		}
		return append(lines, "##vso[task.uploadsummary]"+azureText(name)), appendTo(name, s.Markdown+"\n")
	},
}

func azureText(s string) string {
	return strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func azureProperty(s string) string {
	return strings.NewReplacer(";", "%3B", "]", "%5D").Replace(azureText(s))
}
