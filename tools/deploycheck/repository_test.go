package deploycheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository as seen from this package.
const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaced returns a file of the repository with a mistake in it.
func replaced(t *testing.T, name, old, by string) string {
	t.Helper()
	text := read(t, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s no longer holds %q, which this test would break", name, old)
	}
	return strings.ReplaceAll(text, old, by)
}

// pinned says what is wrong with an image reference that may mean another image tomorrow.
func pinned(image string) error {
	if strings.Contains(image, "@sha256:") {
		return nil
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if !tagged || tag == "" {
		return fmt.Errorf("image %q has no tag", image)
	}
	if tag == "latest" {
		return fmt.Errorf("image %q may be any version", image)
	}
	return nil
}

func TestPinned(t *testing.T) {
	for image, want := range map[string]bool{
		"postgres:17":                         true,
		"localhost:5000/heapdrift:1":          true,
		"gcr.io/distroless/static@sha256:abc": true,
		"postgres":                            false,
		"postgres:latest":                     false,
		"localhost:5000/heapdrift":            false,
	} {
		if got := pinned(image) == nil; got != want {
			t.Errorf("%s pinned: %t, want %t", image, got, want)
		}
	}
}
