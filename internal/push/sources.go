package push

import (
	"os"
	slashpath "path"
	"path/filepath"
	"strings"
)

// inSource is a path of a PDB as one from the root of the sources, and whether it is. A PDB has the path of the machine
// that compiled: where that is not below the root, the longest end of the path that is a file below it counts.
func inSource(root, path string) (string, bool) {
	if path == "" {
		return "", false
	}
	slashed := slashpath.Clean(strings.ReplaceAll(path, `\`, "/"))
	below := strings.TrimRight(strings.ReplaceAll(root, `\`, "/"), "/") + "/"
	if len(below) > 1 && len(slashed) > len(below) && strings.EqualFold(slashed[:len(below)], below) {
		return slashed[len(below):], true
	}
	if root == "" {
		return path, false
	}
	elements := strings.Split(slashed, "/")
	for i := 1; i < len(elements); i++ {
		end := strings.Join(elements[i:], "/")
		if !filepath.IsLocal(filepath.FromSlash(end)) {
			continue
		}
		if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(end))); err == nil && info.Mode().IsRegular() {
			return end, true
		}
	}
	return path, false
}
