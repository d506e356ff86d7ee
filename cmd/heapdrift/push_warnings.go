package main

import (
	"context"
	"slices"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// warningsOf are what is odd about the build of a run. Older servers say nothing of it; that the branch is missing can
// be told from the run.
func warningsOf(run *push.Run) (texts []string) {
	warnings := run.Warnings
	isSaid := slices.ContainsFunc(warnings, func(w leaks.BuildWarning) bool { return w.Code == leaks.WarnNoBranch })
	if run.Branch == "" && !isSaid {
		warnings = append(warnings, leaks.BuildWarning{Code: leaks.WarnNoBranch, Message: leaks.MissingBranchText(run.Build)})
	}
	for _, w := range warnings {
		texts = append(texts, w.Message)
	}
	return texts
}

// foretellTime is how long a dry run waits for what the server knows.
const foretellTime = 5 * time.Second

// foretell says what a push would replace, as far as the server tells what it knows of the build.
func foretell(ctx context.Context, client *push.Client, p *push.Plan) (notes []string) {
	ctx, cancel := context.WithTimeout(ctx, foretellTime)
	defer cancel()
	client.Tries = 1
	b, err := client.Build(ctx, p.Target.Project, p.Target.Build)
	if err != nil {
		return []string{"The server did not return the build: " + err.Error()}
	}
	branch := p.Target.Branch
	if b != nil {
		if commit, replaced := leaks.LaterCommit(b.Commit, p.Target.Commit); replaced {
			notes = append(notes, leaks.CommitReplacedText(b.Name, b.Commit, commit))
		}
		if branch == "" {
			branch = b.Branch
		}
	}
	if branch == "" {
		notes = append(notes, leaks.MissingBranchText(p.Target.Build))
	}
	return notes
}
