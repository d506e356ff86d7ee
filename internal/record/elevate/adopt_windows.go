package elevate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// A greeting is what the child needs to know of its parent, in JSON on the control pipe.
type greeting struct {
	Dir         string   `json:"dir"`
	Environment []string `json:"environment"`
}

// maxGreeting is more than an environment of Windows can have, in bytes.
const maxGreeting = 1 << 20

// Adopt gives the child the folder, the environment and the console of its parent. The context ends when the parent is
// interrupted or has ended.
func Adopt(ctx context.Context, name string) (adopting context.Context, in, out, errs *os.File, err error) {
	if err := checkName(name); err != nil {
		return ctx, nil, nil, nil, err
	}
	var files [4]*os.File // as pipeKinds
	for i, kind := range pipeKinds {
		if files[i], err = openPipe(pipeFolder+name+kind.suffix, kind.toChild); err != nil {
			return ctx, nil, nil, nil, fmt.Errorf("elevate: the console of the parent: %w", err)
		}
	}
	control := bufio.NewReader(io.LimitReader(files[0], maxGreeting))
	line, err := control.ReadBytes('\n')
	if err != nil {
		return ctx, nil, nil, nil, fmt.Errorf("elevate: the parent says nothing: %w", err)
	}
	var hello greeting
	if err := json.Unmarshal(line, &hello); err != nil {
		return ctx, nil, nil, nil, fmt.Errorf("elevate: %w", err)
	}
	if err := os.Chdir(hello.Dir); err != nil { // a drive that only the user's session has
		return ctx, nil, nil, nil, fmt.Errorf("elevate: %w; run the command in a folder of a local disk", err)
	}
	for _, v := range adopted(hello.Environment) {
		if err := os.Setenv(v[0], v[1]); err != nil {
			return ctx, nil, nil, nil, fmt.Errorf("elevate: %s: %w", v[0], err)
		}
	}
	os.Stdin, os.Stdout, os.Stderr = files[1], files[2], files[3] // programs that are started have them, too
	adopting, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = control.ReadByte() // nothing comes but the end
	}()
	return adopting, files[1], files[2], files[3], nil
}

// openPipe opens a pipe of the parent, which learns nothing of the rights of this program by that.
func openPipe(path string, read bool) (*os.File, error) {
	text, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	access := uint32(windows.GENERIC_WRITE)
	if read {
		access = windows.GENERIC_READ
	}
	handle, err := windows.CreateFile(text, access, 0, nil, windows.OPEN_EXISTING,
		windows.SECURITY_SQOS_PRESENT|windows.SECURITY_ANONYMOUS, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), path), nil
}
