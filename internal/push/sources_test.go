package push

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInSource(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "order"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "order", "receipt.cpp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		root, path, want string
		in               bool
	}{
		{root, `c:\src\shopd\order\receipt.cpp`, "order/receipt.cpp", true},
		{root, `c:\src\shopd\order\gone.cpp`, `c:\src\shopd\order\gone.cpp`, false},
		{root, `c:\x\..\order\..\order\receipt.cpp`, "order/receipt.cpp", true},
		{`D:\a\shop\shop`, `d:\A\shop\shop\src\x.cpp`, "src/x.cpp", true},
		{`D:\a\shop\shop\`, `d:\a\shop\shopping\x.cpp`, `d:\a\shop\shopping\x.cpp`, false},
		{"", `c:\x.cpp`, `c:\x.cpp`, false},
		{root, "", "", false},
		{root, root + "/order/none.cpp", "order/none.cpp", true},
	} {
		if got, in := inSource(test.root, test.path); got != test.want || in != test.in {
			t.Errorf("%s below %s is %s, %v", test.path, test.root, got, in)
		}
	}
}
