package ci

import "fmt"

// gitlab is GitLab CI. The iid counts the pipelines of a project. A job that is run again keeps its pipeline and gets
// an id of its own. What it has for annotations are reports that the job keeps as artifacts: --codeclimate and --junit.
var gitlab = System{
	Name: "GitLab", marker: "GITLAB_CI",
	read: func(get Getenv) Environment {
		return Environment{
			Project: get("CI_PROJECT_NAME"), Build: get("CI_PIPELINE_IID"), Sequence: whole(get("CI_PIPELINE_IID")),
			Run:    get("CI_JOB_ID"),
			Branch: first(get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), get("CI_COMMIT_BRANCH")), Commit: get("CI_COMMIT_SHA"),
			Link: get("CI_JOB_URL"),
			Root: get("CI_PROJECT_DIR"), PullRequest: get("CI_MERGE_REQUEST_IID"),
		}
	},
	open: func(id, title string, now int64) string {
		return fmt.Sprintf("\x1b[0Ksection_start:%d:%s[collapsed=true]\r\x1b[0K%s", now, id, oneLine(title))
	},
	close: func(id, _ string, now int64) string { return fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K", now, id) },
}
