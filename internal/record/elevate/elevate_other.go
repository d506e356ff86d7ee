//go:build !windows

package elevate

import (
	"context"
	"io"
	"os"
)

// Restart refuses.
func Restart(context.Context, []string, []string, io.Reader, io.Writer, io.Writer) (int, error) {
	return 0, ErrUnsupported
}

// Adopt refuses.
func Adopt(ctx context.Context, _ string) (adopted context.Context, in, out, errs *os.File, err error) {
	return ctx, nil, nil, nil, ErrUnsupported
}
