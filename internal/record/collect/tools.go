package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// kitFolders are where the Windows Kits put their programs, below Program Files.
var kitFolders = []string{
	`Windows Kits/10/Debuggers`, `Windows Kits/10/Windows Performance Toolkit`,
	`Windows Kits/8.1/Debuggers`, `Windows Kits/8.1/Windows Performance Toolkit`,
}

// FindTool finds a program of the Windows Kits, of Windows or of the PATH. bits are those of the process that it reads.
func FindTool(name string, bits int) (string, error) {
	folders := []string{"x64", "x86", ""}
	switch bits {
	case 32:
		folders = []string{"x86", ""}
	case 64:
		folders = []string{"x64", ""}
	}
	for _, variable := range []string{"ProgramFiles(x86)", "ProgramFiles", "ProgramW6432"} {
		root := os.Getenv(variable)
		if root == "" {
			continue
		}
		for _, kit := range kitFolders {
			for _, folder := range folders {
				path := filepath.Join(root, filepath.FromSlash(kit), folder, name)
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					return path, nil
				}
			}
		}
	}
	if path, err := exec.LookPath(name); err == nil && (bits == 0 || bitsOf(path) == bits) {
		return path, nil
	}
	what := name
	if bits != 0 {
		what = fmt.Sprintf("%s of %d bit, as the process is,", name, bits)
	}
	return "", fmt.Errorf("%s is neither in the Windows Kits nor in the PATH: install the Debugging Tools and the "+
		"Windows Performance Toolkit of the Windows SDK", what)
}

// bitsOf is the width of a program's addresses; 0 where the file is no program.
func bitsOf(path string) int {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	var start [4]byte
	var header [peMagic + 2]byte
	if _, err := file.ReadAt(start[:], peOffset); err != nil {
		return 0
	}
	at := int64(binary.LittleEndian.Uint32(start[:]))
	if _, err := file.ReadAt(header[:], at); err != nil || string(header[:4]) != "PE\x00\x00" {
		return 0
	}
	switch binary.LittleEndian.Uint16(header[peMagic:]) {
	case 0x10B: // PE32
		return 32
	case 0x20B: // PE32+
		return 64
	}
	return 0
}

// Where a program says of which width it is, by the PE format: the offset of its PE header, and in this the magic of
// the optional header, behind 4 bytes of signature and 20 of the file header. Package debug/pe reads much more.
const peOffset, peMagic = 0x3C, 24

// pipeTime is how long the output of a program stays open after its end: what it has started may hold it.
const pipeTime = time.Second

// Run implements target.Runner.
func Run(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = pipeTime
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && ctx.Err() != nil:
		err = fmt.Errorf("did not end in time: %w", context.Cause(ctx))
	case errors.As(err, &exit):
		err = fmt.Errorf("exit code %d", exit.ExitCode())
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return string(out), err
}
