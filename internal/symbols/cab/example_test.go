package cab_test

import (
	"bytes"
	"fmt"
	"io"

	"heapdrift/internal/symbols/cab"
	"heapdrift/internal/symbols/cab/cabtest"
)

func Example() { // app.pd_ of a symbol store
	packed, err := (&cabtest.Cabinet{Method: cabtest.LZX,
		Files: []cabtest.File{{Name: "app.pdb", Content: []byte("a PDB, a PDB, a PDB")}}}).Bytes()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := cab.Open(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range r.Files() {
		in, err := f.Open()
		if err != nil {
			fmt.Println(err)
			continue
		}
		b, err := io.ReadAll(in)
		fmt.Println(f.Name, f.Size, string(b), err, in.Close())
	}
	// Output: app.pdb 19 a PDB, a PDB, a PDB <nil> <nil>
}
