package etl

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
)

// An oracleCall is a call of ntdll's heap functions, and the events that ntdll logged in it.
type oracleCall struct {
	Call   string
	Args   []string
	Result string
	Events []struct {
		Version uint16
		Hook    string
		Payload string
	}
}

func oracleNumber(t *testing.T, text string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Events that ntdll of Windows 7 to 11 logs are read as the arguments and results of its functions.
func TestOracleEvents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "oracle", "events"), "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no events: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			var recorded struct {
				Bits  int
				Calls []oracleCall
			}
			if err := json.NewDecoder(z).Decode(&recorded); err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, call := range recorded.Calls {
				checked += checkOracleCall(t, recorded.Bits, &call)
			}
			if checked < 300 {
				t.Errorf("only %d events were compared", checked)
			}
		})
	}
}

// checkOracleCall compares the events of one call with its arguments and result, and counts the events it compared.
func checkOracleCall(t *testing.T, bits int, call *oracleCall) (checked int) {
	t.Helper()
	args := make([]uint64, len(call.Args))
	for i, a := range call.Args {
		args[i] = oracleNumber(t, a)
	}
	result := oracleNumber(t, call.Result)
	// Segment heaps of 15063 to 19045 log the address before a block's padding, and a size that includes the padding.
	same := func(address, size, wantAddress, wantSize uint64) bool {
		padding := wantAddress - address
		return padding <= 64 && (size == wantSize+padding || padding == 0 && size == wantSize+uint64(bits)/4)
	}
	for _, logged := range call.Events {
		hook := oracleNumber(t, logged.Hook)
		payload, err := hex.DecodeString(logged.Payload)
		if err != nil {
			t.Fatal(err)
		}
		e := Event{Kind: kinds[hook], Group: uint8(hook >> 8), Op: uint8(hook), PointerBytes: uint8(bits / 8),
			Version: logged.Version, Payload: payload}
		var right, ok bool
		switch e.Kind {
		case KindHeapCreate:
			var c HeapCreate
			c, ok = e.HeapCreate()
			right = call.Call != "RtlCreateHeap" || c.Heap == result && c.Reserved >= c.Committed && c.Reserved > 0
		case KindHeapAlloc:
			var a HeapAlloc
			a, ok = e.HeapAlloc()
			right = call.Call != "RtlAllocateHeap" || a.Heap != args[0] || result-a.Address > 64 || same(a.Address, a.Size, result, args[2]) // others are ntdll's own
		case KindHeapFree:
			var f HeapFree
			f, ok = e.HeapFree()
			right = call.Call != "RtlFreeHeap" || f.Heap != args[0] ||
				f.Address%uint64(bits/4) == 0 && args[2]-f.Address <= 64 || f.Address%4096 == 0
		case KindHeapReAlloc:
			var r HeapReAlloc
			r, ok = e.HeapReAlloc()
			right = call.Call != "RtlReAllocateHeap" ||
				r.Heap == args[0] && same(r.New, r.NewSize, result, args[3]) && args[2]-r.Old <= 64
		case KindHeapDestroy:
			var heap uint64
			heap, ok = e.HeapDestroy()
			right = heap == args[0]
		case KindHeapOther:
			continue
		default:
			ok, right = true, true
		}
		checked++
		if !ok || !right {
			t.Errorf("%s%v = %s: event %s, version %d: %s", call.Call, call.Args, call.Result, logged.Hook,
				logged.Version, logged.Payload)
		}
	}
	return checked
}
