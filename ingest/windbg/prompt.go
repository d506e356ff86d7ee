package windbg

import "bytes"

// cutPrompt takes the prompt off a line and returns the command that was typed there and the debugger's number of the
// process:
//
//	0:000> !heap -s          process 0, thread 0
//	1:005:x86> !heap -s      process 1, in the 32-bit half of WOW64
//	0: kd> !heap -s          kernel debugger; also "kd> " and "lkd> "
//
// Text that was pasted without prompts has commands that begin with "!" at the beginning of a line.
func cutPrompt(text []byte) (command []byte, process int64, ok bool) {
	digits := 0
	for digits < len(text) && digits < 4 && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	rest := text[digits:]
	if digits == 0 {
		switch {
		case bytes.HasPrefix(rest, []byte("lkd>")):
			return bytes.TrimSpace(rest[4:]), 0, true
		case bytes.HasPrefix(rest, []byte("kd>")):
			return bytes.TrimSpace(rest[3:]), 0, true
		case isBareCommand(rest):
			return bytes.TrimSpace(rest), -1, true
		}
		return nil, 0, false
	}
	if len(rest) == 0 || rest[0] != ':' {
		return nil, 0, false
	}
	process, _ = decimal(text[:digits])
	const longest = 16 // of what stands between the process and the bracket
	end := bytes.IndexByte(rest[:min(len(rest), longest)], '>')
	if end < 2 || !isPromptBody(rest[1:end]) {
		return nil, 0, false
	}
	return bytes.TrimSpace(rest[end+1:]), process, true
}

// isPromptBody reports whether b is "000", "000:x86" or " kd".
func isPromptBody(b []byte) bool {
	if string(b) == " kd" {
		return true
	}
	thread, machine, found := bytes.Cut(b, []byte(":"))
	if found && len(machine) == 0 {
		return false
	}
	_, ok := decimal(thread)
	return ok
}

// ours are the commands whose outputs are read, as Sniff and text without prompts know them.
var ours = []string{"!heap", "!address", "!eeheap", "!ext.heap", "!ext.address", "!exts.heap", "!sos.eeheap"}

func isBareCommand(text []byte) bool {
	if len(text) == 0 || text[0] != '!' {
		return false
	}
	for _, name := range ours {
		if rest, ok := bytes.CutPrefix(text, []byte(name)); ok && (len(rest) == 0 || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// lets reports whether a command lets the process run: what is printed afterwards is of another instant.
func lets(command []byte) bool {
	for piece := range bytes.SplitSeq(command, []byte(";")) {
		word := bytes.TrimSpace(piece)
		if at := bytes.IndexAny(word, " \t"); at >= 0 {
			word = word[:at]
		}
		switch string(word) {
		case "g", "gh", "gn", "gN", "gc", "gu", ".restart", ".opendump":
			return true
		}
	}
	return false
}

// argumentOf returns what follows an option in a command as far as the next ";", "s 156600" of "!heap -flt s 156600".
func argumentOf(command []byte, option string) []byte {
	_, rest, found := bytes.Cut(command, []byte(option))
	if !found {
		return nil
	}
	rest, _, _ = bytes.Cut(rest, []byte(";"))
	return bytes.TrimSpace(rest)
}
