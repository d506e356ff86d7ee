package main

import (
	"fmt"
	"io"
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
