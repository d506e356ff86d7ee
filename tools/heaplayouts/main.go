// Command heaplayouts makes the table of structures that ingest/ntheap embeds. It reads facts about public PDBs and
// keeps of them the fields that the walker uses; builds whose fields lie alike share one entry.
//
//	xz -dc nt_pdb_layouts_by_build.json.xz |
//	go run ./tools/heaplayouts -public <(xz -dc ntdll_public_pdb_layouts.json.xz) -ntdll ntdll_only_layouts.json \
//	  -segment ntdll_segment_heap_15063_17134_17763_x64.json |
//	tee ingest/ntheap/layouts.txt | gzip -9n > ingest/ntheap/layouts.txt.gz
//
// What the kernel's PDB has comes from there, for each build. Structures that only ntdll.dll has are given for a few
// versions of Windows, and stand for the builds between them; source.go says which.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "heaplayouts:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("heaplayouts", flag.ContinueOnError)
	public := flags.String("public", "", "the unpacked JSON of public ntdll PDBs")
	ntdll := flags.String("ntdll", "", "the JSON of structures that only ntdll has")
	segment := flags.String("segment", "", "the JSON of structures of segment heaps before 18362")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var s sources
	if err := json.NewDecoder(in).Decode(&s.kernel); err != nil {
		return fmt.Errorf("standard input: %w; it takes the unpacked JSON of kernel PDBs", err)
	}
	if err := s.readPublic(*public); err != nil {
		return err
	}
	if err := s.readNTDLL(*ntdll); err != nil {
		return err
	}
	if err := s.readSegment(*segment); err != nil {
		return err
	}
	layouts, err := s.layouts()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	write(w, layouts)
	return w.Flush()
}
