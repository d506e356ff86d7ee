package intake_test

import (
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/intake"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
)

func TestIsUnreadFormat(t *testing.T) {
	for code, want := range map[string]bool{
		evidence.CodeUnknownFormat: true, evidence.CodeUnsupportedFormat: true, evidence.CodeNotTrace: true, intake.CodeNotSymbols: true,
		pdb.CodeNotPDB: true, pdb.CodePDB2: true, pdb.CodePortable: true, pdb.CodeUnsupported: true, pe.CodeNotPE: true,
		evidence.CodeEmptyFile: false, evidence.CodeKernelDump: false, evidence.CodeArchiveBomb: false, evidence.CodeBadDumpHeader: false,
		intake.CodeNoID: false, pdb.CodeCorrupt: false, pe.CodeTruncated: false,
	} {
		if got := intake.IsUnreadFormat(code); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}
