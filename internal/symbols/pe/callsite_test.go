package pe_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/pe/petest"
)

// The bytes stand before 0x1040; code is from 0x1000 to 0x1600, the image ends at 0x4000.
func TestCallSiteForms(t *testing.T) {
	const after = 0x1040
	for _, c := range []struct {
		machine uint16
		code    string // hexadecimal
		what    string
		want    pe.CallSiteVerdict
	}{
		{petest.X86, "E8 FB FF FF FF", "CALL to itself", pe.CallYes},
		{petest.X86, "E8 00 00 00 10", "CALL out of the code", pe.CallNo},
		{petest.X86, "FF D0", "CALL EAX", pe.CallYes},
		{petest.X86, "FF D4", "CALL ESP", pe.CallYes},
		{petest.X86, "FF E0", "JMP EAX", pe.CallNo},
		{petest.X86, "FF D8", "far CALL of a register", pe.CallNo},
		{petest.X86, "FF 10", "CALL [EAX]", pe.CallYes},
		{petest.X86, "FF 18", "far CALL [EAX]", pe.CallYes},
		{petest.X86, "FF 14 24", "CALL [ESP]", pe.CallYes},
		{petest.X86, "FF 14 85 00 20 40 00", "CALL [EAX*4+402000h]", pe.CallYes},
		{petest.X86, "FF 14 85", "the same without its displacement", pe.CallNo},
		{petest.X86, "FF 50 08", "CALL [EAX+8]", pe.CallYes},
		{petest.X86, "FF 54 24 10", "CALL [ESP+10h]", pe.CallYes},
		{petest.X86, "FF 90 00 01 00 00", "CALL [EAX+100h]", pe.CallYes},
		{petest.X86, "FF 94 24 00 01 00 00", "CALL [ESP+100h]", pe.CallYes},
		{petest.X86, "FF 15 00 20 40 00", "CALL [402000h]", pe.CallYes},
		{petest.X86, "64 FF 15 C0 00 00 00", "CALL FS:[C0h]", pe.CallYes},
		{petest.X86, "9A 00 10 40 00 23 00", "CALL 23h:401000h", pe.CallYes},
		{petest.X86, "9A 00 10 40 00 24 00", "a selector that Windows has not", pe.CallNo},
		{petest.X86, "FF 70 08", "PUSH [EAX+8]", pe.CallNo},

		{petest.X64, "E8 00 01 00 00", "CALL", pe.CallYes},
		{petest.X64, "F2 E8 00 01 00 00", "CALL with BND", pe.CallYes},
		{petest.X64, "FF 15 C0 0F 00 00", "CALL [RIP+FC0h], in the image", pe.CallYes},
		{petest.X64, "48 FF 15 C0 0F 00 00", "the same with REX.W, as the loader wants it", pe.CallYes},
		{petest.X64, "FF 15 00 00 10 00", "CALL [RIP+100000h], behind the image", pe.CallNo},
		{petest.X64, "41 FF D2", "CALL R10", pe.CallYes},
		{petest.X64, "41 FF 52 18", "CALL [R10+18h]", pe.CallYes},
		{petest.X64, "43 FF 54 D1 08", "CALL [R9+R10*8+8]", pe.CallYes},
		{petest.X64, "9A 00 10 40 00 23 00", "no far CALL with its address in 64 bits", pe.CallNo},
		{petest.X64, "B8 5E 00 00 00 0F 05", "SYSCALL", pe.CallUnknown},
		{petest.X64, "CD 2E", "INT 2Eh", pe.CallUnknown},
		{petest.X86, "8B D4 0F 34", "SYSENTER", pe.CallUnknown},
		{petest.ARM64, "C1 0B 00 D4", "SVC 5Eh", pe.CallUnknown},
		{petest.X64, "FF 25 00 10 00 00", "JMP [RIP+1000h]", pe.CallNo},

		{petest.ARM64, "04 00 00 94", "BL", pe.CallYes},
		{petest.ARM64, "F1 FF FF 97", "BL backwards", pe.CallYes},
		{petest.ARM64, "00 00 00 96", "BL out of the code", pe.CallNo},
		{petest.ARM64, "04 00 00 14", "B", pe.CallNo},
		{petest.ARM64, "00 01 3F D6", "BLR X8", pe.CallYes},
		{petest.ARM64, "1F 09 3F D6", "BLRAAZ X8", pe.CallYes},
		{petest.ARM64, "1F 0D 3F D6", "BLRABZ X8", pe.CallYes},
		{petest.ARM64, "0A 09 3F D7", "BLRAA X8, X10", pe.CallYes},
		{petest.ARM64, "0A 0D 3F D7", "BLRAB X8, X10", pe.CallYes},
		{petest.ARM64, "00 01 1F D6", "BR X8", pe.CallNo},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		i := library(c.machine)
		copy(i.Sections[0].Content[after-0x1000-len(code):], code)
		if got := opened(t, i).CallSite(after); got != c.want {
			t.Errorf("machine %#x, %s (%s): %s, want %s", c.machine, c.code, c.what, got, c.want)
		}
	}
}
