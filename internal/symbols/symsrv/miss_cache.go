package symsrv

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxMissing bounds what is remembered in memory; a run has some hundred modules.
const maxMissing = 1 << 16

// missCache remembers, by URL, the files that servers do not have or have wrong. Each entry is a file on disk. Its name
// is the SHA-256 of the URL and its time is that of the answer; it holds the answer's result and detail, a line each.
type missCache struct {
	directory string // or empty
	keep      time.Duration
	mu        sync.Mutex
	answers   map[string]answer
	prune     sync.Once
}

// An answer is why a URL need not be asked for again.
type answer struct {
	at     time.Time
	result Result
	detail string
}

// add remembers an answer. That it cannot be written down costs a question later, no more.
func (m *missCache) add(url string, result Result, detail string) {
	a := answer{time.Now(), result, detail}
	m.mu.Lock()
	if m.answers == nil || len(m.answers) >= maxMissing {
		m.answers = make(map[string]answer)
	}
	m.answers[url] = a
	m.mu.Unlock()
	if m.directory == "" || os.MkdirAll(m.directory, 0o755) != nil {
		return
	}
	m.prune.Do(m.removeOld)
	_ = os.WriteFile(m.file(url), []byte(string(result)+"\n"+detail), 0o644)
}

// when returns the answer to a URL, if it still holds.
func (m *missCache) when(url string) (answer, bool) {
	m.mu.Lock()
	a, ok := m.answers[url]
	m.mu.Unlock()
	if !ok && m.directory != "" {
		a, ok = m.read(m.file(url))
	}
	if !ok {
		return answer{}, false
	}
	if age := time.Since(a.at); age < m.keep && age > -time.Minute { // a clock set back must not remember for ever
		return a, true
	}
	m.forget(url)
	return answer{}, false
}

// read reads an answer from disk. Only the two results that are written are believed.
func (m *missCache) read(file string) (answer, bool) {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxPointer {
		return answer{}, false
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return answer{}, false
	}
	result, detail, _ := strings.Cut(string(content), "\n")
	a := answer{info.ModTime(), Result(result), detail}
	return a, a.result == ResultNotFound || a.result == ResultMismatch
}

// removeOld removes the answers that hold no longer. Files of other kinds of name are somebody else's.
func (m *missCache) removeOld() {
	entries, err := os.ReadDir(m.directory)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && len(entry.Name()) == 2*sha256.Size && isHex(entry.Name()) &&
			time.Since(info.ModTime()) > m.keep {
			_ = os.Remove(filepath.Join(m.directory, entry.Name()))
		}
	}
}

func (m *missCache) forget(url string) {
	m.mu.Lock()
	delete(m.answers, url)
	m.mu.Unlock()
	if m.directory != "" {
		_ = os.Remove(m.file(url))
	}
}

func (m *missCache) file(url string) string {
	sum := sha256.Sum256([]byte(url))
	return filepath.Join(m.directory, hex.EncodeToString(sum[:]))
}
