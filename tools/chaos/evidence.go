package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"

	"heapdrift/ingest/etl/etltest"
)

// A file is one upload.
type file struct {
	run, name string
	content   []byte
	refused   bool // it is not evidence
}

// evidence has the same files for every seed, which chooses their order: series of logs, traces in two files, and files
// that are none.
func evidence(seed uint64, runs int) []file {
	var files []file
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range runs {
		name := fmt.Sprintf("run-%d", i)
		switch i % 4 {
		case 0:
			kernel, heap := etltest.Invent(uint64(i+1), etltest.ScenarioSize{}).Pair(etltest.Format{})
			files = append(files, file{run: name, name: "kernel.etl", content: kernel},
				file{run: name, name: "heap.etl", content: heap})
		case 1:
			files = append(files, file{run: name, name: "snap-1.txt.gz", content: packed(log(i, 1))},
				file{run: name, name: "picture.png", content: []byte("\x89PNG nothing"), refused: true})
		default:
			for snapshot := range 3 {
				files = append(files, file{run: name, name: fmt.Sprintf("snap-%d.txt", snapshot), content: log(i, snapshot)})
			}
		}
	}
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	return files
}

// log is a raw log of UMDH, some of them a few MB.
func log(run, snapshot int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "// UMDH: version 10.0.19041.1: Logtime 2026-01-02 03:%02d - Machine=LAB - PID=4242\n// Loaded modules:\n//     Base Size Module\n", 10*snapshot)
	b.WriteString("//           400000   2A6000 C:\\Shop\\shop.exe\n//         77650000   180000 C:\\Windows\\SysWOW64\\ntdll.dll\n//\n// Process modules enumerated.\n\n" +
		"*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\n\n")
	blocks := 200 + 100*snapshot
	if run%8 == 2 {
		blocks *= 100
	}
	for i := range blocks {
		fmt.Fprintf(&b, "00000040 bytes + 00000018 at %08X by BackTrace%07d\n\t77650123\n\t%08X\n\n", 0x3F1000+i*0x60,
			1+(i+run)%50, 0x401000+(i+run)%50*16)
	}
	b.WriteString("*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\n")
	return []byte(b.String())
}

func packed(content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(content) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
