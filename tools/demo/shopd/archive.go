package shopd

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"

	"heapdrift/ingest/etl/etltest"
)

const soakScenario = "soak-60min"

// WriteArchive writes a tar with the files of the demo project, in the order in which they are uploaded. A path in it
// is the build, a folder and the file's name; internal/demo says what is in which folder. The same bytes are written
// every time.
func WriteArchive(ctx context.Context, w io.Writer) error {
	archive := tar.NewWriter(w)
	add := func(build, folder, name string, content []byte) error {
		header := &tar.Header{Name: path.Join(build, folder, name), Size: int64(len(content)), Mode: 0o644}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(content)
		return err
	}
	for i, b := range builds {
		images, err := b.images(ctx)
		if err != nil {
			return err
		}
		for k := range images {
			m := &images[k]
			folder := "symbols"
			if m.symbols == public {
				folder = "windows"
			}
			// Those of Windows are the same in every build.
			if m.symbols == missing || m.symbols == public && i > 0 {
				continue
			}
			if err := add(b.name, folder, m.pdbName, m.pdb); err != nil {
				return err
			}
			if err := add(b.name, folder, m.fileName(), m.exe); err != nil {
				return err
			}
		}
		for k := range snapshots {
			var log bytes.Buffer
			if err := b.write(&log, images, k); err != nil {
				return err
			}
			if err := add(b.name, soakScenario, fmt.Sprintf("shopd-%d.log", k+1), log.Bytes()); err != nil {
				return err
			}
		}
		if err := add(b.name, unitTestScenario, "shopd_tests.log", []byte(b.unitTests().Plain("crt-leaks"))); err != nil {
			return err
		}
		if i < len(builds)-1 {
			continue
		}
		trace := b.trace(images).File(etltest.Format{Compressed: true})
		if err := add(b.name, traceScenario, "shopd.etl", trace); err != nil {
			return err
		}
	}
	return archive.Close()
}
