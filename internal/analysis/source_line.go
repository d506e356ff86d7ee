package analysis

import "strings"

// A sourceLine is a line of source by the name of its file without the folder, in lower case.
type sourceLine struct {
	file string
	line uint32
}

// Bytes that the debug CRT adds to a block that it takes from the heap: its header, and four bytes behind the block.
const crtBytes32, crtBytes64 = 36, 52

// isSameBlockSize reports whether blocks of a list have the size of others on average, as the program asked for it or
// as the debug CRT asked the heap for it.
func isSameBlockSize(list, other Amount) bool {
	for _, more := range []int64{0, crtBytes32, crtBytes64} {
		if list.Count > 0 && other.Count > 0 &&
			float64(list.Bytes+more*list.Count)*float64(other.Count) == float64(other.Bytes)*float64(list.Count) {
			return true
		}
	}
	return false
}

// isSameFile reports whether two paths may be of one file: the one ends with the other, relative folders left out.
func isSameFile(a, b string) bool {
	a, b = plainPath(a), plainPath(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return strings.HasSuffix(a, b) && (len(a) == len(b) || a[len(a)-len(b)-1] == '/')
}

// plainPath is a path in lower case with slashes, from behind its last "..".
func plainPath(path string) string {
	path = "/" + strings.ReplaceAll(strings.ToLower(path), `\`, "/")
	for _, up := range []string{"/../", "/./"} {
		if at := strings.LastIndex(path, up); at >= 0 {
			path = path[at+len(up)-1:]
		}
	}
	return path[1:]
}

func baseName(path string) string {
	return strings.ToLower(path[strings.LastIndexAny(path, `\/`)+1:])
}
