package evidence_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"heapdrift/ingest/evidence"
)

func TestErrorSaysFilePlaceCauseAndWhatToDo(t *testing.T) {
	for want, e := range map[string]evidence.Error{
		"the file is empty": {Message: "the file is empty"},
		"a.log: nothing was found (line 3, offset 0x1f); upload the log that umdh -f wrote": {File: "a.log",
			Message: "nothing was found", Line: 3, Offset: 31, Do: "upload the log that umdh -f wrote"},
		"a.7z: the archive is damaged: unexpected EOF; pack it again": {File: "a.7z",
			Message: "the archive is damaged", Err: io.ErrUnexpectedEOF, Do: "pack it again"},
		"a record ends early (stream 3, offset 0x10)": {Message: "a record ends early",
			Part: "stream 3", Offset: 16},
		"no heap was found (address 0x7ff000)": {Message: "no heap was found",
			Address: 0x7FF000},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Refusal finds what is wrong with the evidence, wherever it is in the chain of errors; failures that another try may
// avoid are no refusals.
func TestRefusal(t *testing.T) {
	bomb := &evidence.Error{Code: evidence.CodeArchiveBomb}
	damaged := &evidence.Error{Code: evidence.CodeDamagedArchive, Err: bomb}
	failed := func(cause error) error {
		return fmt.Errorf("while reading: %w", &evidence.Error{Code: evidence.CodeReadFailed, Err: cause})
	}
	for name, test := range map[string]struct {
		err  error
		want *evidence.Error
	}{
		"nothing":                              {nil, nil},
		"another error":                        {io.EOF, nil},
		"the first of two":                     {damaged, damaged},
		"a reader that failed":                 {failed(io.ErrClosedPipe), nil},
		"a reader that failed for the archive": {failed(bomb), bomb},
		"a full disk":                          {&evidence.Error{Code: "spool-disk", Internal: true}, nil},
		"joined with another":                  {errors.Join(io.EOF, bomb), bomb},
	} {
		if got := evidence.Refusal(test.err); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestFormats(t *testing.T) {
	list := evidence.Formats{
		{Kind: "a", Name: "an A", Plural: "As", Extensions: []string{".a", ".aa"}, CaptureKinds: []string{"a1", "a2"}, Rank: 2,
			Sniff: func(head []byte) bool { return string(head) == "A" }},
		{Kind: "b", Name: "a B", Plural: "Bs", CaptureKinds: []string{"b"}, Sniff: func([]byte) bool { return true }},
	}
	if got := list.Files(); got != "As (.a, .aa) and Bs" {
		t.Errorf("files: %s", got)
	}
	if got := list.Name("a") + ", " + list.Name("z"); got != "an A, z" {
		t.Errorf("names: %s", got)
	}
	if list.Rank("a2") != 2 || list.Rank("b") != 0 || list.Rank("z") != 0 {
		t.Error("ranks")
	}
	if list.Sniffed([]byte("A")).Kind != "a" || list.Sniffed([]byte("B")).Kind != "b" ||
		list[:1].Sniffed([]byte("B")) != nil {
		t.Error("the first that takes the beginning for its own is the format")
	}
	if !list[0].HasExtension("X.AA") || list[0].HasExtension("a") || list.Of("z").Kind != "" {
		t.Error("extensions")
	}
}
