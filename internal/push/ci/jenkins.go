package ci

import "strings"

// jenkins is Jenkins. Builds are counted by job, and so by branch in a multibranch pipeline: their number does not
// order builds of several branches. What it has for annotations are its plugins, which read --junit and --sarif.
var jenkins = System{
	Name: "Jenkins", marker: "JENKINS_URL",
	read: func(get Getenv) Environment {
		job, branch := get("JOB_NAME"), get("BRANCH_NAME")
		if i := strings.LastIndexByte(job, '/'); branch != "" && i > 0 { // the last element is the branch
			job = job[:i]
		}
		e := Environment{
			Project: first(lastElement(get("GIT_URL")), lastElement(job)),
			Build:   numbered(get("BUILD_NUMBER"), get("GIT_COMMIT")),
			Branch:  first(get("CHANGE_BRANCH"), branch, strings.TrimPrefix(branchOf(get("GIT_BRANCH")), "origin/")),
			Commit:  get("GIT_COMMIT"), Link: get("BUILD_URL"),
			Root: get("WORKSPACE"), PullRequest: get("CHANGE_ID"),
		}
		if branch == "" {
			e.Sequence = whole(get("BUILD_NUMBER"))
		}
		return e
	},
}
