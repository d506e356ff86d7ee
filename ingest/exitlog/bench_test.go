package exitlog_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"heapdrift/ingest/exitlog"
	"heapdrift/ingest/exitlog/exitlogtest"
)

// compilerOutput is a megabyte or so of what a CI job prints beside tests.
func compilerOutput() []byte {
	var b bytes.Buffer
	for b.Len() < 1<<20 {
		b.WriteString("2026-01-02T03:04:05.1234567Z [123/456] Building CXX object src/cache/CMakeFiles/cache.dir/cache.cpp.obj\n" +
			"2026-01-02T03:04:05.1234567Z C:\\src\\cache\\cache.cpp(88): warning C4244: conversion from 'size_t' to 'int', possible loss of data\n" +
			"2026-01-02T03:04:06.1234567Z -- Installing: C:/build/install/include/cache/cache.h\n")
	}
	return b.Bytes()
}

// BenchmarkLog reads a job's log of compilers with one list in 64 MB.
func BenchmarkLog(b *testing.B) {
	noise := compilerOutput()
	list := []byte((&exitlogtest.Suite{Program: "t.exe", Tests: []exitlogtest.Test{{Name: "A.B",
		Left: []exitlogtest.Block{{File: `c:\src\a.cpp`, Line: 7, Size: 64}}}}}).CRT())
	const megabytes = 64
	b.SetBytes(int64(megabytes*len(noise) + len(list)))
	b.ReportAllocs()
	for b.Loop() {
		var parts []io.Reader
		for range megabytes {
			parts = append(parts, bytes.NewReader(noise))
		}
		captures, err := exitlog.Read(b.Context(), io.MultiReader(append(parts, bytes.NewReader(list))...))
		if err != nil || len(captures) != 1 {
			b.Fatal(len(captures), err)
		}
	}
}

// BenchmarkList reads nothing but lists: the text of each line matters.
func BenchmarkList(b *testing.B) {
	var left []exitlogtest.Block
	for i := range 1000 {
		left = append(left, exitlogtest.Block{File: `c:\src\cache\cache.cpp`, Line: i, Size: 16 + i%64, Function: "Cache::Add"})
	}
	suite := &exitlogtest.Suite{Program: "t.exe", Tests: []exitlogtest.Test{{Name: "A.B", Left: left}}}
	for name, log := range map[string]string{"crt": suite.CRT(), "vld": suite.VLD()} {
		log = strings.Repeat(log, 8)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := exitlog.Read(b.Context(), strings.NewReader(log)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
