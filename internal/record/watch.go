package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// retryTime is how long a watch waits after a recording that failed.
const retryTime = time.Minute

// Watch records every run of a program until ctx ends, each into a folder of its own. The settings stay changed all the
// time, as they must be there whenever the program starts. ended is called for each run with its error; and with
// ErrInterrupted for the last one with evidence, when the settings are restored.
func (r *Recorder) Watch(ctx context.Context, p *Plan, ended func(context.Context, *Recording, error)) (err error) {
	whole := &session{Recorder: r, plan: p, rec: &Recording{}}
	if whole.settings, err = r.set(ctx, p, whole.rec); err != nil {
		return err
	}
	var last *Recording // the newest that has files and has not been told that settings are restored
	defer func() {
		err = errors.Join(err, whole.restore(ctx))
		if last != nil && len(whole.rec.Settings.Changed) > 0 {
			last.Settings = whole.rec.Settings
			ended(ctx, last, ErrInterrupted)
		}
	}()
	if set := whole.settings; set != nil {
		defer context.AfterFunc(ctx, func() { _, _ = set.restore(ctx) })()
	}
	if p.Running != nil { // each run opens its own
		p.Running.Close()
	}
	base, one := r.Options.Dir, *r
	one.Options.prepared, one.Options.Watch, one.Options.ofWatch = true, false, &whole.rec.Settings
	for ctx.Err() == nil {
		one.Options.Dir = filepath.Join(base, fmt.Sprintf("%s-%s", strings.TrimSuffix(p.Image, filepath.Ext(p.Image)),
			time.Now().UTC().Format("20060102-150405.000")))
		plan, err := one.Plan()
		if err != nil {
			return err
		}
		rec, err := one.Run(ctx, plan)
		if rec != nil && len(rec.Files) > 0 {
			last = rec
		}
		if errors.Is(err, ErrInterrupted) {
			failure := whole.restore(ctx)
			rec.Settings = whole.rec.Settings // as before, which is told with the recording
			failure = errors.Join(failure, rec.save())
			if len(rec.Files) > 0 {
				last = nil
			}
			ended(ctx, rec, err)
			return failure
		}
		ended(ctx, rec, err)
		if err != nil {
			one.sayError("watch", err)
			if !pause(ctx, retryTime) {
				return nil
			}
		}
		if one.Options.Target.Service != "" { // which its manager starts again
			one.Options.Target = Target{Image: p.Image}
		}
	}
	return nil
}
