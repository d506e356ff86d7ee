package umdh_test

import (
	"strconv"
	"strings"
	"testing"

	"heapdrift/ingest/umdh"
)

// Each log has an entry whose new bytes are printed as "64", or more entries. The cases list what is read without a
// base, as decimal, and as hexadecimal.
func TestBase(t *testing.T) {
	for name, test := range map[string]struct {
		log            string
		auto, dec, hex string // new bytes; warnings
	}{
		"a letter anywhere": {
			"+ 64 (64 - 0) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\n+ f (f - 0) 1 allocs BackTrace2\n+ 1 (1 - 0) BackTrace2 allocations\na!b+1\nTotal increase == 73\n",
			"115", "64 base-mismatch inconsistent malformed", "115",
		},
		"a letter in the total": {
			"+ 64 (64 - 0) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 64 requested + a overhead = 6e\n",
			"100", "64 base-mismatch malformed", "100",
		},
		"padded to 6": {
			"+      64 (     64 -      0)      1 allocs\tBackTrace1\n+       1 (      1 -      0)\tBackTrace1\tallocations\n\ta!b+1\nTotal increase ==     64 requested +      0 overhead =     64\n",
			"64", "64", "100 base-mismatch",
		},
		"padded to 5": {
			"+      64 (    64 -     0)      1 allocs\tBackTrace1\n+       1 (     1 -     0)\tBackTrace1\tallocations\n\ta!b+1\nTotal increase ==     64 requested +      0 overhead =     64\n",
			"100", "64 base-mismatch", "100",
		},
		"a borrow in decimal": {
			"+ 64 (100 - 36) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 64\n",
			"100", "100", "256 base-mismatch inconsistent inconsistent",
		},
		"a borrow in hexadecimal": {
			"+ 68 (101 - 99) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 68\n",
			"257", "101 base-mismatch inconsistent inconsistent", "257",
		},
		"a carry in the total": {
			"+ 64 (64 - 0) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 64 requested + 36 overhead = 100\n",
			"64", "64", "100 base-mismatch inconsistent",
		},
		"a carry over the entries": {
			"+ 64 (64 - 0) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\n+ 36 (36 - 0) 1 allocs BackTrace2\n+ 1 (1 - 0) BackTrace2 allocations\na!b+1\nTotal increase == 100\n",
			"100", "100", "154 base-mismatch inconsistent",
		},
		"a borrow in the total, where the only entry contradicts itself": {
			"+ 63 (64 - 36) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 28\n",
			"64 inconsistent", "64 inconsistent", "100 base-mismatch inconsistent inconsistent",
		},
		"a borrow in the blocks": {
			"+ 64 (64 - 0) 10 allocs BackTrace1\n+ 2 (10 - 8) BackTrace1 allocations\na!b+1\nTotal increase == 64\n",
			"64", "64", "100 base-mismatch inconsistent",
		},
		"sums against padding": {
			"+      64 (  100 -    36)      1 allocs\tBackTrace1\n+       1 (     1 -     0)\tBackTrace1\tallocations\n\ta!b+1\nTotal increase ==     64\n",
			"100", "100", "256 base-mismatch inconsistent inconsistent",
		},
		"nothing proves": {
			"+ 64 (64 - 0) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 64\n",
			"100 base-assumed", "64", "100",
		},
		"nothing proves, and nothing has to": {
			"+ 9 (9 - 0) 1 allocs BackTrace1\n+ 1 (1 - 0) BackTrace1 allocations\na!b+1\nTotal increase == 9\n",
			"9", "9", "9",
		},
	} {
		for base, want := range map[umdh.Base]string{umdh.BaseAuto: test.auto, umdh.BaseDecimal: test.dec,
			umdh.BaseHex: test.hex} {
			c := read(t, []byte(test.log), base)[0]
			got := strings.TrimSpace(strconv.FormatInt(c.Total(1).Bytes, 10) + " " + codes(c))
			if got != want {
				t.Errorf("%s, read in base %s: %s, want %s\n%s", name, base, got, want, render(c))
			}
		}
	}
}

func TestParseBase(t *testing.T) {
	for _, base := range []umdh.Base{umdh.BaseAuto, umdh.BaseDecimal, umdh.BaseHex} {
		if got, err := umdh.ParseBase(base.String()); got != base || err != nil {
			t.Errorf("%s: %v, %v", base, got, err)
		}
	}
	if _, err := umdh.ParseBase("octal"); code(err) != umdh.CodeBadBase || !strings.Contains(err.Error(), `"octal"`) {
		t.Errorf("octal: %v", err)
	}
}
