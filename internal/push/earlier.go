package push

import (
	"context"
	"net/http"

	"heapdrift/internal/leaks"
)

// worthAsking is from how many bytes on a first file is worth the two requests that find out whether the server has it.
const worthAsking = 1 << 20

// findEarlier finds the run that an earlier push began, so that its files are not sent again. The metadata of a first
// file can change the build; where it would, the file is sent.
func (e *evidenceRun) findEarlier(ctx context.Context) error {
	t := &e.target
	b, err := e.client.Build(ctx, t.Project, t.Build)
	if isRefused(err, http.StatusForbidden) || isRefused(err, http.StatusMethodNotAllowed) {
		return nil // a token that may not read, or an older server
	}
	if err != nil || b == nil || b.wouldChange(t) {
		return err
	}
	for _, r := range b.Runs {
		if r.ID == 0 || r.Scenario != t.Scenario || r.Name != t.Run {
			continue
		}
		run, err := e.client.Run(ctx, r.ID)
		if err != nil {
			return err
		}
		e.before, e.id = run, run.ID
	}
	return nil
}

// wouldChange reports whether a push tells the server something new about the build.
func (b *Build) wouldChange(t *leaks.UploadTarget) bool {
	for _, field := range []struct{ said, has string }{{t.Branch, b.Branch}, {t.Commit, b.Commit}, {t.Fork, b.Fork}} {
		if field.said != "" && field.said != field.has {
			return true
		}
	}
	return t.Sequence != nil && (b.Sequence == nil || *b.Sequence != *t.Sequence)
}
