package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/evidence"
)

// A Relation says how other traces relate to a recording.
type Relation int

// The relations.
const (
	SameRecording  Relation = iota // they are parts of it, such as the kernel's session of a heap session
	OtherRecording                 // they are a recording of their own
	KnownFiles                     // they are files that it has already, packed in another way
)

// Compare reports how other relates to the recording that t is. Traces of another boot, or of another time of the same
// boot, are recordings of their own. So is a merged trace beside files as sessions wrote them. The merged trace was
// mostly made from those files, and reading both would count everything twice.
func (t *UnpackedTraces) Compare(ctx context.Context, other *UnpackedTraces) (Relation, error) {
	trace, err := etl.Open(ctx, append(append([]etl.Source{}, t.Files...), other.Files...), etl.Options{})
	if evidence.IsRefusal(err) {
		return OtherRecording, nil
	}
	if err != nil {
		return OtherRecording, err
	}
	files := trace.Info().Files
	before, after := files[:len(t.Files)], files[len(t.Files):]
	switch {
	case areKnown(before, t.Files, after, other.Files):
		return KnownFiles, nil
	case !atOneTime(before, after):
		return OtherRecording, nil
	case areMerged(before) != areMerged(after):
		return OtherRecording, nil
	case !areMerged(before):
		return SameRecording, nil
	}
	repeats, err := trace.Repeats(ctx)
	if err != nil {
		return OtherRecording, err
	}
	if areRepeated(repeats, len(before), len(files)) {
		return KnownFiles, nil
	}
	twice, err := holdTheSame(ctx, t.Files, other.Files)
	if err != nil || twice {
		return OtherRecording, err
	}
	return SameRecording, nil
}

// areRepeated reports whether the events of each file from one on are all in one before.
func areRepeated(repeats []etl.Repeat, from, to int) bool {
	for file := from; file < to; file++ {
		if !slices.ContainsFunc(repeats, func(r etl.Repeat) bool {
			return r.FileIndex == file && r.OfIndex < from || r.Same && r.OfIndex == file && r.FileIndex < from
		}) {
			return false
		}
	}
	return true
}

// readOnce leaves out files whose events are in others that are given with them.
func (t *UnpackedTraces) readOnce(ctx context.Context) error {
	if err := t.leaveOutMerged(ctx); err != nil {
		return err
	}
	return t.leaveOutRepeats(ctx)
}

// leaveOutRepeats leaves out recordings that were merged in several ways, but for one.
func (t *UnpackedTraces) leaveOutRepeats(ctx context.Context) error {
	if len(t.Files) < 2 {
		return nil
	}
	trace, err := etl.Open(ctx, t.Files, etl.Options{})
	if isRefused(err, etl.CodeOtherBoot) { // reading them says so
		return nil
	}
	if err != nil {
		return err
	}
	repeats, err := trace.Repeats(ctx)
	if err != nil || len(repeats) == 0 {
		return err
	}
	var rest []etl.Source
	for i, f := range t.Files {
		k := slices.IndexFunc(repeats, func(r etl.Repeat) bool { return r.FileIndex == i })
		if k < 0 {
			rest = append(rest, f)
			continue
		}
		t.Warnings = append(t.Warnings, capture.Warning{Code: capture.Unsupported, Count: 1,
			Message: fmt.Sprintf("%s left out: %s is the same recording and has its events", f.Name, t.Files[repeats[k].OfIndex].Name)})
	}
	t.Files = rest
	return nil
}

// leaveOutMerged leaves out the files that a merged trace among them was made from.
func (t *UnpackedTraces) leaveOutMerged(ctx context.Context) error {
	if len(t.Files) < 2 {
		return nil
	}
	trace, err := etl.Open(ctx, t.Files, etl.Options{})
	if isRefused(err, etl.CodeOtherBoot) { // reading them says so
		return nil
	}
	if err != nil {
		return err
	}
	var merged, raw []etl.Source
	var infos [2][]etl.File
	for i, f := range trace.Info().Files {
		if areMerged([]etl.File{f}) {
			merged, infos[0] = append(merged, t.Files[i]), append(infos[0], f)
		} else {
			raw, infos[1] = append(raw, t.Files[i]), append(infos[1], f)
		}
	}
	if len(merged) == 0 || len(raw) == 0 || !atOneTime(infos[0], infos[1]) {
		return nil
	}
	twice, err := holdTheSame(ctx, merged, raw)
	if err != nil || !twice {
		return err
	}
	names := make([]string, len(raw))
	for i := range raw {
		names[i] = raw[i].Name
	}
	t.Warnings = append(t.Warnings,
		capture.Warning{Code: capture.Unsupported, Count: int64(len(raw)), Message: fmt.Sprintf(
			"%s left out: %s was merged from them and has their events", strings.Join(names, ", "), merged[0].Name)})
	t.Files = merged
	return nil
}

// areKnown reports whether all files are among those before.
func areKnown(before []etl.File, old []etl.Source, after []etl.File, sources []etl.Source) bool {
	for i := range after {
		found := false
		for k := range before {
			found = found || after[i].LogFile == before[k].LogFile && sources[i].Size == old[k].Size
		}
		if !found {
			return false
		}
	}
	return true
}

// atOneTime reports whether any file of one list was recorded while one of the other was, or goes on where that is
// full.
func atOneTime(a, b []etl.File) bool {
	for i := range a {
		for k := range b {
			f, g := &a[i].LogFile, &b[k].LogFile
			goesOn := f.Mode&g.Mode&etl.ModeNewFile != 0 && f.Logger == g.Logger
			endsBefore := func(f, g *etl.LogFile) bool { return !f.End.IsZero() && f.End.Before(g.Start) }
			if goesOn || !endsBefore(f, g) && !endsBefore(g, f) {
				return true
			}
		}
	}
	return false
}

func areMerged(files []etl.File) bool {
	for i := range files {
		if files[i].LogFile.Mode&etl.ModeRelog != 0 {
			return true
		}
	}
	return false
}

// holdTheSame reports whether both lists of files hold events of heaps, or both of virtual memory.
func holdTheSame(ctx context.Context, a, b []etl.Source) (bool, error) {
	for _, kinds := range []etl.KindSet{etl.Kinds(etl.KindHeapAlloc, etl.KindHeapFree, etl.KindHeapReAlloc),
		etl.Kinds(etl.KindVirtualAlloc, etl.KindVirtualFree)} {
		both := true
		for _, files := range [][]etl.Source{a, b} {
			held, err := holds(ctx, files, kinds)
			if err != nil {
				return false, err
			}
			if both = both && held; !both {
				break
			}
		}
		if both {
			return true, nil
		}
	}
	return false, nil
}

// errFound ends a look through events.
var errFound = errors.New("found")

// holds reports whether files hold events of some kinds.
func holds(ctx context.Context, files []etl.Source, kinds etl.KindSet) (bool, error) {
	trace, err := etl.Open(ctx, files, etl.Options{})
	if err == nil {
		err = trace.EventsOf(ctx, kinds, func(e *etl.Event) error {
			if kinds.Has(e.Kind) {
				return errFound
			}
			return nil
		})
	}
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
