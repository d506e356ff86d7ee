package allocations

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"heapdrift/ingest/evidence"
)

func tableOf(t testing.TB, rows Scanner, meta *Meta) ([]byte, *Table) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, rows, meta); err != nil {
		t.Fatal(err)
	}
	table, err := openBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), table
}

func openBytes(b []byte) (*Table, error) { return Open(bytes.NewReader(b), int64(len(b))) }

func rowsOf(t testing.TB, s Scanner) []Row {
	t.Helper()
	var got rowCollector
	if err := s.Scan(context.Background(), BeforeTrace, Never, &got); err != nil {
		t.Fatal(err)
	}
	return got.rows
}

func TestTableKeepsRows(t *testing.T) {
	for name, want := range map[string][]Row{
		"none":           nil,
		"extremes":       extremes(0),
		"two row groups": slices.Concat(rowsOf(t, trace{groupRows + 1000, 300, 2}), extremes(300)),
	} {
		first, table := tableOf(t, spoolOf(t, want), &Meta{})
		if table.Len() != int64(len(want)) {
			t.Errorf("%s: %d rows, want %d", name, table.Len(), len(want))
		}
		got := rowsOf(t, table)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: other rows", name)
		}
		if second, _ := tableOf(t, table, &Meta{}); !bytes.Equal(first, second) {
			t.Errorf("%s: a table of a table differs", name)
		}
		for i, r := range want {
			want[i] = Row{
				AllocTime: r.AllocTime, FreeTime: r.FreeTime, Size: r.Size, Site: r.Site, End: r.End,
				Part: r.Part, UnknownFree: r.UnknownFree,
			}
		}
		if !slices.Equal(rowsOf(t, table.ForWindows()), want) {
			t.Errorf("%s: other rows in brief", name)
		}
	}
}

// TestAnotherReader reads a table with the Parquet library that wrote it, which shares no code with this package's
// reader.
func TestAnotherReader(t *testing.T) {
	want := slices.Concat(rowsOf(t, trace{3000, 300, 2}), extremes(300))
	b, _ := tableOf(t, spoolOf(t, want), trace{}.meta())
	type row struct {
		AllocTime *int64 `parquet:"alloc_time_ns,optional"`
		FreeTime  *int64 `parquet:"free_time_ns,optional"`
		Size      uint64 `parquet:"size"`
		Site      uint32 `parquet:"site"`
		End       string `parquet:"end"`
		Part      bool   `parquet:"part"`
		Unknown   bool   `parquet:"unknown"`
		Address   uint64 `parquet:"address"`
		Heap      uint64 `parquet:"heap"`
		Process   uint32 `parquet:"process"`
		PID       uint32 `parquet:"pid"`
		Thread    uint32 `parquet:"thread"`
		Stack     uint32 `parquet:"stack"`
		FreeStack uint32 `parquet:"free_stack"`
		Kind      string `parquet:"kind"`
	}
	got, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	pids := map[uint32]uint32{0: 100, 1: 104, 2: 100}
	for i, g := range got {
		w := want[i]
		r := Row{
			AllocTime: inside(g.AllocTime, BeforeTrace), FreeTime: inside(g.FreeTime, Never), Address: g.Address,
			Size: g.Size, Heap: g.Heap,
			Site: g.Site, Process: g.Process, Thread: g.Thread, Stack: g.Stack, FreeStack: g.FreeStack,
			Kind: Kind(kindNames[g.Kind]), End: End(endNames[g.End]), Part: g.Part, UnknownFree: g.Unknown,
		}
		if r != w || g.PID != pids[w.Process] {
			t.Fatalf("row %d is %+v, want %+v", i, r, w)
		}
	}
}

// TestPruning asks for windows at the edges of row groups: no row that matters is left out, and groups are.
func TestPruning(t *testing.T) {
	rows := rowsOf(t, trace{groupRows + 10, 20, 7})
	_, table := tableOf(t, spoolOf(t, rows), &Meta{})
	latest := rows[groupRows-1].FreeTime
	for _, from := range []int64{latest - 1, latest, latest + 1} {
		matters := func(r Row) bool { return r.FreeTime >= from && r.AllocTime <= from+5 }
		var got rowCollector
		if err := table.Scan(t.Context(), from, from+5, &got); err != nil {
			t.Fatal(err)
		}
		read := len(got.rows)
		not := func(r Row) bool { return !matters(r) }
		if !slices.Equal(slices.DeleteFunc(got.rows, not), slices.DeleteFunc(slices.Clone(rows), not)) {
			t.Errorf("from %d: other rows matter", from)
		}
		if from > latest && read != len(rows)-groupRows {
			t.Errorf("from %d: %d rows of %d read, want one row group less", from, read, len(rows))
		}
	}
	early := spoolOf(t, []Row{{AllocTime: 100, FreeTime: 200}, {AllocTime: 150, FreeTime: Never}})
	_, table = tableOf(t, early, nil)
	for _, c := range []struct {
		from, to int64
		rows     int
	}{{0, 99, 0}, {0, 100, 2}, {201, 300, 2}, {BeforeTrace, Never, 2}} {
		var got rowCollector
		if err := table.Scan(t.Context(), c.from, c.to, &got); err != nil || len(got.rows) != c.rows {
			t.Errorf("[%d, %d]: %d rows, %v, want %d", c.from, c.to, len(got.rows), err, c.rows)
		}
	}
}

// fullWriter is a Writer that takes some bytes and then fails.
type fullWriter struct{ left int }

func (f *fullWriter) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errSink
	}
	return len(b), nil
}

func TestWriteEnds(t *testing.T) {
	rows := trace{groupRows + 5, 20, 7}
	for _, room := range []int{0, 1000, groupRows * 18} {
		if err := Write(context.Background(), &fullWriter{room}, rows, rows.meta()); code(err) != CodeWrite ||
			!errors.Is(err, errSink) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Write(ctx, io.Discard, rows, rows.meta()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s := spoolOf(t, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Write(context.Background(), io.Discard, s, nil); code(err) != CodeClosed {
		t.Errorf("rows of a closed spool: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	good, _ := tableOf(t, spoolOf(t, extremes(0)), nil)
	var foreign, other bytes.Buffer
	if err := parquet.Write(&foreign, []struct{ A int }{{1}}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.Write(&other, []struct{ A int }{{1}},
		parquet.KeyValueMetadata(keyVersion, tableVersion)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		b    []byte
		code string
	}{
		"nothing":       {nil, CodeForeign},
		"text":          {[]byte(strings.Repeat("text ", 9)), CodeForeign},
		"another table": {foreign.Bytes(), CodeForeign},
		"other columns": {other.Bytes(), CodeForeign},
		"a later version": {bytes.Replace(good, []byte(keyVersion+"\x18\x011"), []byte(keyVersion+"\x18\x012"),
			1), CodeVersion},
		"a footer larger than the file": {append(slices.Clone(good[:len(good)-8]), 0xff, 0xff, 0xff, 0x7f, 'P', 'A',
			'R', '1'), CodeDamaged},
		"no footer": {append(slices.Clone(good[:len(good)-8]), 0, 0, 0, 0, 'P', 'A', 'R', '1'),
			CodeDamaged},
		"half": {good[len(good)/2:], CodeDamaged},
	} {
		if _, err := openBytes(c.b); code(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := Open(bytes.NewReader(good), int64(len(good))+50); code(err) != CodeDamaged {
		t.Errorf("a file that is shorter than it is said to be: %v", err)
	}
}

// readAll opens a table and reads all that it has.
func readAll(b []byte) ([]Row, error) {
	table, err := openBytes(b)
	if err != nil {
		return nil, err
	}
	var got rowCollector
	if err := table.Scan(context.Background(), BeforeTrace, Never, &got); err != nil {
		return nil, err
	}
	_, err = table.Meta()
	return got.rows, err
}

func TestDamage(t *testing.T) {
	want := slices.Concat(extremes(9), rowsOf(t, trace{40, 9, 1}))
	m := trace{}.meta()
	m.Sites = []Site{{1, 2, 3, KindVirtual}}
	b, table := tableOf(t, spoolOf(t, want), m)
	var pages int64 // where they end
	for _, c := range table.groups[0].chunks {
		pages = max(pages, c.start()+c.size)
	}
	for n := range b {
		if _, err := readAll(b[:n]); code(err) != CodeForeign && code(err) != CodeDamaged {
			t.Fatalf("cut at %d of %d: %v", n, len(b), err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range b {
		flipped := slices.Clone(b)
		flipped[n] ^= 1 << r.Uint32N(8)
		rows, err := readAll(flipped)
		var e *evidence.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("bit flipped at %d: %v", n, err)
		}
		if err == nil && n < int(pages) && !slices.Equal(rows, want) {
			for k, c := range table.groups[0].chunks {
				if start := int(c.start()); n >= start && n < start+int(c.size) {
					t.Logf("%s + %d", columnShapes[k].name, n-start)
				}
			}
			t.Fatalf("bit flipped at %d: other rows and no error", n)
		}
	}
}
