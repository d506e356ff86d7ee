package intake_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/accounts"
	"heapdrift/internal/corpus"
	"heapdrift/internal/leaks"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/slots"
)

// An archive that takes a decoder seconds of processor time is refused, and leaves no blobs.
func TestArchiveThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	if !sandbox.Supported {
		t.Skip("this system does not look at archives in processes of their own")
	}
	hang, err := os.ReadFile(corpus.Path(t, "hostile/hang.7z"))
	if err != nil {
		t.Fatal(err)
	}
	d := open(t)
	d.Sandbox.TaskTime = time.Second // of the processor
	_, err = d.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"},
		"hang.7z", bytes.NewReader(hang))
	var refused *evidence.Error
	if !errors.As(err, &refused) || refused.Code != sandbox.CodeExpensive ||
		!strings.HasPrefix(refused.Error(), "hang.7z: ") {
		t.Errorf("%v", err)
	}
	if _, err := d.send("hang.7z", hang); !errors.As(err, &refused) || refused.Code != sandbox.CodeExpensive {
		t.Errorf("as symbols: %v", err)
	}
	if keys := d.keys(); len(keys) > 0 {
		t.Errorf("blobs are left: %v", keys)
	}
}

// Only what is packed is looked at in a process of its own: a log is taken in where a process gets no memory.
func TestOnlyArchivesNeedAProcess(t *testing.T) {
	if !sandbox.Supported {
		t.Skip("this system does not look at archives in processes of their own")
	}
	d := open(t)
	to := leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"}
	archive := archiveOfWindow(t, 16<<20)
	if _, err := d.Accept(t.Context(), to, "a.txt.zst", bytes.NewReader(archive)); err != nil {
		t.Errorf("an archive: %v", err)
	}
	d.Sandbox.ChildMemory = 1 << 20
	if _, err := d.Accept(t.Context(), to, "a.txt", strings.NewReader(log)); err != nil {
		t.Errorf("a log: %v", err)
	}
	to.Run = "other"
	if _, err := d.Accept(t.Context(), to, "a.txt.zst", bytes.NewReader(archive)); err == nil {
		t.Error("an archive was looked at in the server's own process")
	}
}

// archiveOfWindow is an archive of a log that takes so many bytes of memory to unpack: more than a process has left from
// its start.
func archiveOfWindow(t *testing.T, window int) []byte {
	t.Helper()
	random, source := make([]byte, 1+len(log)/50), rand.NewChaCha8([32]byte{}) // so that it is no bomb
	var text []byte
	for len(text) < 2*window {
		_, _ = source.Read(random)
		text = hex.AppendEncode(append(text, log...), random)
	}
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err == nil {
		_, err = z.Write(text)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// An account that unpacks as much as it may leaves a slot for others, and waits for its own.
func TestArchivesOfOneAccountStopNoOther(t *testing.T) {
	if !sandbox.Supported {
		t.Skip("this system does not look at archives in processes of their own")
	}
	d := open(t)
	d.Unpacking = slots.New(slots.Limits{All: 2, Project: 2, Account: 1})
	greedy := accounts.WithActor(t.Context(), &accounts.Actor{TokenID: 1, ProjectID: 1})
	leave, err := d.Unpacking.Enter(t.Context(), slots.Holder{ProjectID: 1, Account: "token 1"})
	if err != nil {
		t.Fatal(err)
	}
	archive := zipOf(packedFile{"a.txt", []byte(log)})
	to := leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"}
	soon, cancel := context.WithTimeout(greedy, 50*time.Millisecond)
	defer cancel()
	if _, err := d.Accept(soon, to, "a.zip", bytes.NewReader(archive)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second archive of the account: %v", err)
	}
	other := accounts.WithActor(t.Context(), &accounts.Actor{TokenID: 2, ProjectID: 2})
	if _, err := d.Accept(other, to, "a.zip", bytes.NewReader(archive)); err != nil {
		t.Errorf("an archive of another account: %v", err)
	}
	leave()
	if _, err := d.Accept(greedy, to, "b.zip", bytes.NewReader(archive)); err != nil {
		t.Errorf("when the slot is free: %v", err)
	}
}
