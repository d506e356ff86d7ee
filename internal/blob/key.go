package blob

import (
	"fmt"
	"strings"
)

// Limits of keys in bytes. S3 takes keys of 1024 bytes, of which the bucket's prefix needs some; file systems take
// names of 255.
const (
	maxKey     = 512
	maxElement = 200
)

// checkKey refuses what not every store can hold, or what means something else to a file system.
func checkKey(key string) error {
	if len(key) > maxKey {
		return fmt.Errorf("blob: a key of %d bytes is longer than %d: %.40q…", len(key), maxKey, key)
	}
	for element := range strings.SplitSeq(key, "/") {
		if problem := checkElement(element); problem != "" {
			return fmt.Errorf("blob: key %q: %s", key, problem)
		}
	}
	return nil
}

// checkPrefix is checkKey for what List takes: any start of a key, also an empty one.
func checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return checkKey(strings.TrimSuffix(prefix, "/"))
}

// checkElement says what is wrong with one element of a key.
func checkElement(element string) string {
	switch {
	case element == "":
		return "an element is empty"
	case element[0] == '.': // "..", and room for files of the store's own
		return fmt.Sprintf("the element %q starts with a dot", element)
	case len(element) > maxElement:
		return fmt.Sprintf("an element is longer than %d bytes", maxElement)
	}
	if i := strings.IndexFunc(element, strange); i >= 0 {
		return fmt.Sprintf("the element %q holds something else than letters, digits, %q, %q and %q", element, '.', '_', '-')
	}
	return ""
}

func strange(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		return false
	}
	return true
}
