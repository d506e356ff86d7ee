package minidump_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

func Example() { // a dump whose upload broke off within its memory
	file := minidumptest.Dump{
		Modules: []minidumptest.Module{{Path: `C:\app\app.exe`, Base: 0x7FF600000000, Size: 0x5000, PDB: "app.pdb", Age: 1}},
		Memory:  []minidumptest.Memory{{Address: 0x10000, Bytes: []byte("what the process held")}},
	}.Bytes()
	file = file[:len(file)-4]

	d, err := minidump.Open(context.Background(), bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.System().Arch, d.System().Build, d.Header().FullMemory)
	modules, err := d.Modules()
	if err != nil {
		fmt.Println(err)
	}
	for _, m := range modules {
		fmt.Println(m.Path, m.PDB, m.DebugID)
	}
	memory := make([]byte, 21)
	n, err := d.Memory().ReadMemory(memory, 0x10000)
	fmt.Printf("%q\n", memory[:n])
	var missing *minidump.MissingError
	if errors.As(err, &missing) {
		fmt.Printf("%#x is missing, %d bytes in all\n", missing.Address, d.Memory().MissingBytes())
	}
	for _, e := range d.Damage() {
		fmt.Println(e.Code)
	}
	// Output:
	// x64 19045 true
	// C:\app\app.exe app.pdb 000000000000000000000000000000001
	// "what the process "
	// 0x10011 is missing, 4 bytes in all
	// truncated
}
