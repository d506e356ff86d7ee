package worker

import (
	"heapdrift/ingest/capture"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
)

// keptBytes is how large the artifacts of captures may be, together, that a read leaves in memory for the analysis.
const keptBytes = 4 << 20

// keptCaptures are captures by their artifacts. They were decoded when a child process handed them over.
type keptCaptures map[string]*capture.Capture

// keep leaves what was read to the analysis, so that it is not decoded once more. Captures that a reader made in this
// process are not kept: the analysis must see exactly what their artifacts say.
func (w *Worker) keep(job *queue.Job, h *host) {
	if kept, small := keptOf(h.captures); w.Sandbox != nil && small {
		job.Leave(kept)
	}
}

// keptOf are captures by their artifacts, and whether those are small enough, together, to be kept.
func keptOf(captures []store.StoredCapture) (kept keptCaptures, small bool) {
	kept = keptCaptures{}
	var size int64
	for _, c := range captures {
		kept[c.ArtifactKey] = c.Capture
		size += c.Bytes
	}
	return kept, size <= keptBytes
}

// take is a kept capture, for the only use that is made of it; nil where it is not kept.
func (k keptCaptures) take(artifact string) *capture.Capture {
	c := k[artifact]
	delete(k, artifact)
	return c
}
