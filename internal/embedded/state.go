package embedded

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
)

// DefaultStateDir is where heapdrift keeps its own services' data unless told otherwise: /var/lib/heapdrift for root,
// else $XDG_STATE_HOME/heapdrift or ~/.local/state/heapdrift, and %LocalAppData%\heapdrift on Windows.
func DefaultStateDir() string {
	if runtime.GOOS == "windows" {
		if dir, err := os.UserCacheDir(); err == nil {
			return filepath.Join(dir, "heapdrift")
		}
	}
	if os.Geteuid() == 0 {
		return "/var/lib/heapdrift"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // a relative one is to be ignored, by its specification
		return filepath.Join(dir, "heapdrift")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		if u, err := user.Current(); err == nil && u.HomeDir != "" {
			home = u.HomeDir
		} else {
			return "heapdrift-state" // an account without a home: in the working directory, not where others write
		}
	}
	return filepath.Join(home, ".local", "state", "heapdrift")
}
