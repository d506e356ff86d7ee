// Package testbrowser starts Chromium for tests. Out go the path of Chromium, the options that it is started with, and
// how long a test may wait for it:
//
//	allocator, stop := chromedp.NewExecAllocator(ctx, testbrowser.Options(testbrowser.Find(t), profile)...)
package testbrowser

import (
	"os"
	"os/exec"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/needs"
)

// Patience is how long a test may take in which the browser hangs. On an idle machine the longest takes half a minute,
// beside eleven other test programs on two cores more than four.
const Patience = 30 * time.Minute

// Find returns the path of Chromium, and skips a test where it is not installed. It prefers the headless shell,
// which is the same engine without the windows and services of a browser, and draws pages with less work.
func Find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	needs.SkipWithout(t, "chromium-headless-shell")
	return ""
}

// Options start the Chromium at path with its state in the folder profile: without windows, and without network
// requests of its own, which a test machine may answer with errors.
func Options(path, profile string) []cdp.ExecAllocatorOption {
	options := append(cdp.DefaultExecAllocatorOptions[:], cdp.ExecPath(path), cdp.UserDataDir(profile),
		cdp.WindowSize(1440, 900))
	// A page of a test runs its scripts once or twice: optimising them costs more than it saves.
	options = append(options, cdp.Flag("js-flags", "--no-opt --single-threaded-gc"))
	for _, off := range []string{"disable-gpu", "disable-quic", "disable-background-networking",
		"disable-component-update", "disable-sync"} {
		options = append(options, cdp.Flag(off, true))
	}
	if os.Geteuid() == 0 {
		options = append(options, cdp.NoSandbox)
	}
	return options
}
