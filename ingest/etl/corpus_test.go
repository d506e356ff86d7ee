package etl_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/internal/corpus"
)

// realTraces are the traces of the corpus that Windows wrote: path in the corpus, part of the member's name in an
// archive, and the census beside it, "" for none.
var realTraces = []struct{ path, member, census string }{
	{"perfview/net.4.5.2.x64.etl.zip", ".etl", "perfview_net.4.5.2.x64.etl"},
	{"perfview/net.4.5.2.x86.etl.zip", ".etl", "perfview_net.4.5.2.x86.etl"},
	{"perfview/net.4.5.x86.OLD.etl.zip", ".etl", "perfview_net.4.5.x86.OLD_PerfViewData.etl"},
	{"perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip", "diaghub.etl",
		"perfview_diaghub-dotnetcore3.1-win-x64-diagsession_diaghub.etl"},
	{"perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip", "diaghub.kernel.1.etl",
		"perfview_diaghub-dotnetcore3.1-win-x64-diagsession_diaghub.kernel.1.etl"},
	{"perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip", "user_injected.1.etl",
		"perfview_diaghub-dotnetcore3.1-win-x64-diagsession_diaghub.user_injected.1.etl"},
	{"perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip", "user_paged.1.etl",
		"perfview_diaghub-dotnetcore3.1-win-x64-diagsession_diaghub.user_paged.1.etl"},
	{"perfview/gcrundownevents.etl.zip", ".etl", "perfview_gcrundownevents_PerfViewData.clrRundown.etl"},
	{"perfview/primitive-types.etl.zip", ".etl", "perfview_primitive-types.etl"},
	{"perfview/SelfDescribingSingleEvent.etl", "", "perfview_SelfDescribingSingleEvent.etl"},
	{"perfview/smallEtlFile.etl", "", "perfview_smallEtlFile.etl"},
	{"etwanalyzer/TraceLoggingTester.etl", "", // the corpus has it packed as .7z; unpacked beside that, it is tested
		"etwanalyzer_TraceLoggingTester.etl"},
	{"etl-parser/AMSITrace.etl", "", "etl-parser_AMSITrace.etl"},
	{"etl-parser/ShutdownPerfDiagLogger.etl", "", "etl-parser_ShutdownPerfDiagLogger.etl"},
	{"etl-parser/lxcore_kernel.etl", "", "etl-parser_lxcore_kernel.etl"},
	{"misc/monogame_PerfViewData.etl.zip", ".etl", "misc_monogame_PerfViewData_PerfViewData.etl"},
	{"misc/pywintrace_eventlog.etl", "", "misc_pywintrace_eventlog.etl"},
	{"sawbuck/image_data_32_v0.etl", "", "sawbuck_image_data_32_v0.etl"},
	{"sawbuck/image_data_32_v1.etl", "", "sawbuck_image_data_32_v1.etl"},
	{"sawbuck/image_data_32_v2.etl", "", "sawbuck_image_data_32_v2.etl"},
	{"sawbuck/image_data_64_v0.etl", "", ""},
	{"sawbuck/image_data_64_v2.etl", "", ""},
	{"sawbuck/process_data_32_v1.etl", "", ""},
	{"sawbuck/process_data_32_v3.etl", "", ""},
	{"sawbuck/process_data_64_v2.etl", "", "sawbuck_process_data_64_v2.etl"},
	{"sawbuck/process_data_64_v3.etl", "", "sawbuck_process_data_64_v3.etl"},
	{"tx/CrossMachineHTTP.etl", "", "tx_CrossMachineHTTP.etl"},
}

// unpacked keeps what was unpacked, by path and member: several tests read the same traces.
var unpacked = map[string][]byte{}

// realFile is the content of a trace of the corpus, unpacked.
func realFile(t testing.TB, path, member string) []byte {
	t.Helper()
	if underRace && strings.HasPrefix(path, "perfview/net.4.5") && !strings.Contains(path, "x86.etl") {
		t.Skip("a large trace; the race detector is on")
	}
	key := path + "/" + member
	if unpacked[key] == nil {
		unpacked[key] = unpack(t, path, member)
	}
	return unpacked[key]
}

func unpack(t testing.TB, path, member string) []byte {
	t.Helper()
	file := corpus.Path(t, "etl", filepath.FromSlash(path))
	var archive fs.FS
	switch filepath.Ext(path) {
	case ".zip":
		z, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		archive = z
	default:
		return readFile(t, file)
	}
	var content []byte
	found := errors.New("found")
	err := fs.WalkDir(archive, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, member) {
			return err
		}
		f, err := archive.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if content, err = io.ReadAll(f); err != nil {
			return err
		}
		return found
	})
	if !errors.Is(err, found) {
		t.Fatalf("no %s in %s: %v", member, path, err)
	}
	return content
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lab is a trace of the ground-truth corpus.
func lab(t testing.TB, path string) []byte {
	t.Helper()
	return readFile(t, corpus.Path(t, "lab", filepath.FromSlash(path)))
}

// open opens files as one trace.
func open(t testing.TB, files ...[]byte) *etl.Trace {
	t.Helper()
	trace, err := etl.Open(t.Context(), sources(files...), etl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func sources(files ...[]byte) (s []etl.Source) {
	for i, b := range files {
		s = append(s, etl.Source{Name: string(rune('a'+i)) + ".etl", ReaderAt: bytes.NewReader(b), Size: int64(len(b))})
	}
	return s
}
