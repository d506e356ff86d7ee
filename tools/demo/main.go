// Command demo writes internal/demo/evidence.tar.zst: the files of the demo project, which the program carries. "make
// generate" runs it at the root of the repository:
//
//	go run ./tools/demo
//
// Another version of the packer may pack the same files into other bytes: an archive that holds what it should is left
// as it is.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"heapdrift/tools/demo/shopd"
)

const archive = "internal/demo/evidence.tar.zst"

func main() {
	if err := run(context.Background(), archive); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run writes the archive unless its content is there.
func run(ctx context.Context, path string) error {
	var files bytes.Buffer
	if err := shopd.WriteArchive(ctx, &files); err != nil {
		return err
	}
	packed, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		return err
	}
	defer unpacker.Close()
	if there, err := unpacker.DecodeAll(packed, nil); err == nil && bytes.Equal(there, files.Bytes()) {
		return nil
	}
	// A window of 16 MB holds all of it: each log repeats the one before.
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(16<<20))
	if err != nil {
		return err
	}
	return os.WriteFile(path, packer.EncodeAll(files.Bytes(), nil), 0o644)
}
