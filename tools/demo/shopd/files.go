// Package shopd makes the evidence of the demo project, a small service whose builds leak in known ways: what
// process.go says each site holds, as logs, a trace and symbols. WriteArchive writes all of it as heapdrift embeds it,
// WriteFiles what a CI job of one build would have.
package shopd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Names of builds for WriteFiles: nothing leaks in Clean, two leaks come with Leaking, and Fixed runs the same code
// without them.
const (
	Clean   = "4811"
	Leaking = "4812"
	Fixed   = "4813"
)

// fixed is a build that the demo project does not have: what 4812 brought is mended.
var fixed = build{Fixed, day.AddDate(0, 0, 4), 5988, append(quiet(), mended(receipt), mended(audit), mended(index))}

// everyBuild are the builds of the demo project and those that WriteFiles writes beside them.
func everyBuild() []build { return append(slices.Clone(builds), fixed) }

// WriteFiles writes into the folder dir what a CI job of the build name would have: the logs of the process, and the
// PDBs and images of the build in the folder symbols.
func WriteFiles(ctx context.Context, dir, name string) error {
	all := everyBuild()
	i := slices.IndexFunc(all, func(b build) bool { return b.name == name })
	if i < 0 {
		return fmt.Errorf("shopd: there is no build %s", name)
	}
	images, err := all[i].images(ctx)
	if err != nil {
		return err
	}
	symbols := filepath.Join(dir, "symbols")
	if err := os.MkdirAll(symbols, 0o750); err != nil {
		return fmt.Errorf("shopd: %w", err)
	}
	for _, m := range images {
		if m.symbols == missing {
			continue
		}
		for name, content := range map[string][]byte{m.pdbName: m.pdb, m.fileName(): m.exe} {
			if err := os.WriteFile(filepath.Join(symbols, name), content, 0o600); err != nil {
				return fmt.Errorf("shopd: %w", err)
			}
		}
	}
	for k := range snapshots {
		if err := all[i].writeFile(filepath.Join(dir, fmt.Sprintf("shopd-%02d.log", k+1)), images, k); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes the log of snapshot k.
func (b build) writeFile(path string, images []image, k int) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("shopd: %w", err)
	}
	err = b.write(file, images, k)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("shopd: %w", err)
	}
	return nil
}
