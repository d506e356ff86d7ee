package blame

import "strings"

// uncut is below how many frames a signature shows all of the program's, so that its last one is where a thread or a
// callback begins.
const uncut = maxFrames

// IsEntry reports whether frame i of a signature is where the program, a thread or a callback begins: everything runs
// through it.
func IsEntry(frames []string, i int) bool {
	if i == len(frames)-1 && len(frames) < uncut {
		return true
	}
	switch frames[i][strings.LastIndexByte(frames[i], '!')+1:] {
	case "main", "wmain", "WinMain", "wWinMain", "DllMain":
		return true
	}
	return false
}
