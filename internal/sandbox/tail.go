package sandbox

import "sync"

// tailBytes is how much is kept of what a process says.
const tailBytes = 32 << 10

// A tail keeps the beginning and the end of what is written to it: a panic says first what it is.
type tail struct {
	mu         sync.Mutex
	head, rest []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	fits := min(tailBytes/2-len(t.head), len(p))
	t.head, p = append(t.head, p[:fits]...), p[fits:]
	t.rest = append(t.rest, p...)
	if over := len(t.rest) - tailBytes/2; over > 0 {
		t.rest = append(t.rest[:0], t.rest[over:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.head) + string(t.rest)
}
