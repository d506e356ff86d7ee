package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// symbolCandidate is a file that may be sent as symbols.
type symbolCandidate struct {
	path  string
	named bool // on the command line, not found in a directory
}

// findSymbols lists the files that are given, and those of directories that begin as a PDB, an image, or a compressed
// one of a symbol store does.
func findSymbols(ctx context.Context, paths []string) ([]symbolCandidate, error) {
	var files []symbolCandidate
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, symbolCandidate{path, true})
			continue
		}
		err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !entry.Type().IsRegular() {
				return nil
			}
			form, err := symbolForm(file)
			if err != nil {
				return err
			}
			if form == identifiable || form == compressed && strings.HasSuffix(file, "_") {
				files = append(files, symbolCandidate{path: file})
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", path, err)
		}
	}
	return files, nil
}

// A fileForm is what the first bytes of a file say that it is.
type fileForm int

const (
	otherForm    fileForm = iota
	identifiable          // PDB or image
	compressed            // cabinet
)

var fileForms = []struct {
	magic string
	fileForm
}{
	{"MZ", identifiable}, {"Microsoft C/C++ ", identifiable}, {"Microsoft MSFZ ", identifiable},
	{"BSJB", identifiable}, {"MSCF", compressed},
}

func symbolForm(path string) (fileForm, error) {
	f, err := os.Open(path)
	if err != nil {
		return otherForm, err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return otherForm, fmt.Errorf("read %s: %w", path, err)
	}
	for _, form := range fileForms {
		if bytes.HasPrefix(head[:n], []byte(form.magic)) {
			return form.fileForm, nil
		}
	}
	return otherForm, nil
}
