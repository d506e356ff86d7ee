package compress_test

import (
	"math"
	"strings"
	"testing"

	"heapdrift/web/compress"
)

// accepts are Accept-Encoding headers and the codings that they get when zstd, br and gzip are offered in this order.
var accepts = []struct {
	header string
	want   compress.Coding
}{
	{"", ""}, {"identity", ""}, {"deflate", ""}, {"compress, deflate", ""},
	{"gzip", "gzip"}, {"x-gzip", "gzip"}, {"GZip", "gzip"}, {"br", "br"}, {"zstd", "zstd"},
	{"gzip, deflate, br, zstd", "zstd"}, {"gzip, deflate, br", "br"}, {"gzip,deflate", "gzip"}, {"*", "zstd"},
	// Weights
	{"gzip;q=1.0, br;q=0.8, zstd;q=0.5", "gzip"}, {"gzip;q=0.8, br;q=0.9", "br"}, {"gzip;q=0.999, br;q=1", "br"},
	{"gzip;q=0.01,br;q=0.001", "gzip"},
	{"zstd;q=0, br, gzip", "br"}, {"zstd;q=0.000, br;q=0.0, gzip;q=0.", ""}, {"gzip;q=0", ""},
	{"gzip ; Q=0.5 , br ; q = 0.4", "gzip"},
	{"*;q=0", ""}, {"gzip, *;q=0", "gzip"}, {"zstd;q=0, *", "br"}, {"*;q=0.5, gzip;q=0.6", "gzip"},
	{"*;q=0.5, gzip;q=0.1", "zstd"},
	{"identity, gzip;q=0.5", ""}, {"identity;q=0.5, gzip;q=0.5", "gzip"}, {"identity;q=0.5, gzip;q=0.4", ""},
	{"identity;q=0, gzip;q=0.1", "gzip"}, {"identity;q=0", ""},
	{"gzip;q=0, gzip;q=1", ""}, {"gzip, gzip;q=0", "gzip"},
	// A malformed header accepts nothing.
	{"gzip;q=2", ""}, {"gzip;q=-1", ""}, {"gzip;q=1.001", ""}, {"gzip;q=0.1234", ""}, {"gzip;q=.5", ""},
	{"gzip;q=nan", ""}, {"gzip;q=1e0", ""}, {"gzip;q=", ""}, {"gzip;q", ""}, {"gzip;q=0,5", ""},
	{"gzip;q=x, br;q=0.1", "br"}, {"gzip;level=9", "gzip"}, {"gzip;level=9;q=0", ""}, {",,;,gzip,", "gzip"},
	{"gzip br", ""}, {"gzipped", ""}, {"\tgzip\t;\tq=0.3\t", "gzip"}, {";q=1", ""}, {"\x00", ""},
}

func TestChoose(t *testing.T) {
	for _, test := range accepts {
		if got := compress.ChooseCoding(test.header, compress.Codings...); got != test.want {
			t.Errorf("%q: %q, want %q", test.header, got, test.want)
		}
	}
	if got := compress.ChooseCoding("*"); got != compress.Identity {
		t.Errorf("of nothing: %q", got)
	}
}

// A client does not get a coding that it names with a weight of 0, or does not name; a coding that is offered alone is
// taken unless Identity weighs more.
func FuzzChoose(f *testing.F) {
	for _, test := range accepts {
		f.Add(test.header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := compress.ChooseCoding(header, compress.Codings...)
		lower := strings.ToLower(header)
		if got != compress.Identity && !strings.Contains(lower, string(got)) && !strings.Contains(header, "*") {
			t.Errorf("%q gets %q", header, got)
		}
		if compress.ChooseCoding(header, compress.Codings...) != got {
			t.Errorf("%q gets something else the second time", header)
		}
		if refusing := string(got) + ";q=0," + header; got != compress.Identity &&
			compress.ChooseCoding(refusing, got) != compress.Identity {
			t.Errorf("%q gets %q", refusing, got)
		}
		if alone := compress.ChooseCoding(header, got); got != compress.Identity && alone != got {
			t.Errorf("%q gets %q of %q alone", header, alone, got)
		}
	})
}

func BenchmarkChoose(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = compress.ChooseCoding("gzip, deflate, br, zstd", compress.Codings...)
	}
	if n := testing.AllocsPerRun(10,
		func() { _ = compress.ChooseCoding("gzip, deflate, br, zstd", compress.Codings...) }); math.Round(n) != 0 {
		b.Errorf("%v allocations", n)
	}
}
