package demo

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// archive is a tar of everything that is uploaded, in the order of the uploads, packed with zstd. tools/demo writes it
// (make generate).
//
//go:embed evidence.tar.zst
var archive []byte

// Folders of a build in the archive. All other folders are named by a scenario and hold the evidence of its run.
const (
	symbolsFolder = "symbols" // PDBs and images that the team has built
	windowsFolder = "windows" // those that a symbol server has
)

// eachFile calls do with each file of the archive in turn, until one fails. A file is folder/name in its build.
func eachFile(do func(build, folder, name string, content io.Reader) error) error {
	unpacked, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("unpacking the demo's evidence: %w", err)
	}
	defer unpacked.Close()
	files := tar.NewReader(unpacked)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpacking the demo's evidence: %w", err)
		}
		folder, name := path.Split(header.Name)
		build, folder, _ := strings.Cut(path.Clean(folder), "/")
		if err := do(build, folder, name, files); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}
