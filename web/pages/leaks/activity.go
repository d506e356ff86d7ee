package leaks

import (
	"slices"
	"time"
)

// A activityEntry is one decision or comment about a leak.
type activityEntry struct {
	at            time.Time
	actor, action string // action is "" of comments
	text          string
	signature     string // under which it was said
	verified      bool   // the actor was logged in
	comment       bool
}

// activity are the decisions and the comments in one list, newest first.
func (v signatureView) activity() []activityEntry {
	var list []activityEntry
	for _, c := range v.comments {
		list = append(list, activityEntry{at: c.At, actor: c.Actor, text: c.Text, signature: c.Signature,
			verified: c.Verified, comment: true})
	}
	for _, r := range v.audit {
		if r.Action != "comment" { // it stands there itself
			list = append(list, activityEntry{at: r.At, actor: r.Actor, action: r.Action, text: whatChanged(r),
				signature: r.Signature, verified: r.Verified})
		}
	}
	slices.SortStableFunc(list, func(a, b activityEntry) int { return b.at.Compare(a.at) })
	return list
}
