package undname_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/undname"
)

// rows reads a table of the corpus: tab-separated, comments begin with "#".
func rows(t testing.TB, name string) (all [][]string) {
	t.Helper()
	f, err := os.Open(corpus.Path(t, "undname", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != '#' {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// Names come out byte for byte as Microsoft's own output has them, with every recorded set of flags.
func TestOracle(t *testing.T) {
	columns := []undname.Flags{
		undname.Complete, undname.NameOnly, undname.NoMSKeywords, undname.NameOnly | undname.NoMSKeywords,
	}
	for _, row := range rows(t, "ms-oracle.tsv.gz") {
		for i, flags := range columns {
			if got := undname.Undecorate(row[0], flags); got != row[i+1] {
				t.Errorf("%s, flags %#x\n got %s\nwant %s", row[0], flags, got, row[i+1])
			}
		}
	}
}

// Display of a procedure's decorated name is the name that MSVC gives the procedure in its PDB.
func TestDisplayIsTheNameOfTheProcedure(t *testing.T) {
	for _, row := range rows(t, "msvc-pdb-pairs.tsv") {
		got := undname.Display(row[0], false)
		if strings.HasPrefix(row[0], "??1?$") && !strings.HasSuffix(row[1], ">") {
			got = got[:strings.Index(got, "::~")+3+strings.Index(got[strings.Index(got, "::~")+3:], "<")]
		} // compilers before Visual Studio 2017 called a destructor ~vector, not ~vector<int>
		if got != row[1] {
			t.Errorf("%s\n got %s\nwant %s", row[0], got, row[1])
		}
	}
}

// The cases of Wine's tests, which ran on Microsoft's runtimes.
func TestWine(t *testing.T) {
	flags := map[string]undname.Flags{
		"0": undname.Complete, "0x0": undname.Complete, "0x02": undname.NoMSKeywords, "0x60": undname.NoThisType,
		"0x880":  undname.ThirtyTwoBitDecode | undname.NoAccessSpecifiers,
		"0x1800": undname.ThirtyTwoBitDecode | undname.NameOnly,
		"0x2800": undname.ThirtyTwoBitDecode | undname.TypeOnly,
	}
	for _, row := range rows(t, "wine-undname.tsv") {
		f, ok := flags[row[1]]
		switch {
		case !ok:
			t.Fatalf("flags %s are not known here", row[1])
		case row[2] == "BlaBla":
			continue // not a type; what is printed of it differs between Microsoft's versions
		case strings.Contains(row[3], " ptr64"):
			f = undname.NoLeadingUnderscores // the table has lost these two flags
		case strings.HasPrefix(row[2], "??Xstd@@YAAEAV") && !strings.Contains(row[3], "__"):
			f = undname.NoMSKeywords
		}
		if got := undname.Undecorate(row[2], f); got != row[3] {
			t.Errorf("%s, flags %#x\n got %s\nwant %s", row[2], f, got, row[3])
		}
	}
}

// Names that other undecorators can read are read here.
func TestNothingThatOthersReadIsLeftDecorated(t *testing.T) {
	unread := map[string]string{
		"?foo@@3Y123KA": "an array that is no pointer: compilers do not emit it",
		"??__MS@@QEAA?AVstrong_ordering@std@@AEBU0@@Z'": "a stray quotation mark",
		"?Zoo@@3U?$Foo@$1??$x@H@@3HA$1?1@3HA@@A":        "Clang refers to the name of a variable template",
		"??__F_decisionToDFA@XPathLexer@@0V?$vector@VDFA@dfa@antlr4@@V?$allocator@VDFA@dfa@antlr4@@@std@@@std@@A@YAXXZ": "Clang has left out a question mark",
	}
	for _, file := range []string{"llvm-ms-demangle.tsv", "rust-msvc-demangler.tsv"} {
		for _, row := range rows(t, file) {
			name := row[2]
			if !strings.HasPrefix(name, "?") || strings.HasPrefix(name, "??@") ||
				row[1] == "expect_failure" || unread[name] != "" {
				continue
			}
			if len(row) > 3 && (row[3] == name || strings.Contains(row[3], "nvalid")) {
				continue
			}
			got := undname.Undecorate(name, undname.CurrentGrammar)
			if got == name || strings.Contains(got, " ?? ") || strings.Contains(got, "UNKNOWN") {
				t.Errorf("%s: %s\n got %s\nothers %s", file, name, got, row[3:])
			}
		}
	}
}
