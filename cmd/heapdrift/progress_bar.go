package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A progressBar draws one line that it rewrites; on anything but a terminal it draws nothing.
type progressBar struct {
	w    io.Writer
	name string
	next time.Time
	on   bool
	used bool
}

func newProgressBar(w io.Writer, name string) *progressBar {
	return &progressBar{w: w, name: name, on: isTerminal(w), next: time.Now().Add(300 * time.Millisecond)}
}

func (b *progressBar) set(done, total int64) {
	if now := time.Now(); b.on && now.After(b.next) {
		b.next, b.used = now.Add(100*time.Millisecond), true
		fmt.Fprintf(b.w, "\r\x1b[Kreading %s %d %%", b.name, 100*done/max(total, 1))
	}
}

func (b *progressBar) clear() {
	if b.used {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// A sharedBar is the progress of files that are read at once.
type sharedBar struct {
	*progressBar
	mu          sync.Mutex
	done, total int64 // bytes of all files
}

func newSharedBar(w io.Writer, files []*evidenceFile) *sharedBar {
	b := &sharedBar{}
	name := ""
	for _, f := range files {
		name = f.Name
		b.total += f.Bytes
	}
	if len(files) > 1 {
		name = fmt.Sprintf("%d files", len(files))
	}
	b.progressBar = newProgressBar(w, name)
	return b
}

// part is the progress of one of the files.
func (b *sharedBar) part() func(done, total int64) {
	before := int64(0)
	return func(done, _ int64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done += done - before
		before = done
		b.set(b.done, b.total)
	}
}
