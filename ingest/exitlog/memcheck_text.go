package exitlog

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// A memcheckParser reads the leaks that Valgrind prints. The layout is that of its manual (chapter Memcheck, "Memory
// leak detection") and of reports in public issue trackers; its source is under the GPL and was not used:
//
//	==4242== Command: ./tests --all
//	==4242== 24 bytes in 2 blocks are definitely lost in loss record 1 of 2
//	==4242==    at 0x48485C3: operator new(unsigned long) (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
//	==4242==    by 0x10931F: Cache::Add(int) (cache.cpp:88)
//	==4242==
//	==4242== LEAK SUMMARY:
//	==4242==    definitely lost: 24 bytes in 2 blocks
//	==4242==    indirectly lost: 0 bytes in 0 blocks
//	==4242==      possibly lost: 0 bytes in 0 blocks
//	==4242==    still reachable: 0 bytes in 0 blocks
//	==4242==         suppressed: 0 bytes in 0 blocks
//
//	==4242== All heap blocks were freed -- no leaks are possible
type memcheckParser struct {
	in        *lane
	out       *collector
	processes map[int64]*memcheckProcess
}

// A memcheckProcess is the list of one process: those of programs that it started come between.
type memcheckProcess struct {
	losses
	process   capture.Process
	leak      loss
	reach     capture.Reach
	stack     []frame
	open      bool // a record is under way
	inSummary bool
	since     int64
}

// mostProcesses bounds the processes of a lane whose lists are under way.
const mostProcesses = 64

func (p *memcheckParser) line(text []byte, number int64) (mine, open bool) {
	pid, rest, ok := cutValgrind(text)
	if !ok {
		return false, p.isOpen()
	}
	at := p.processes[pid]
	if at == nil {
		if !concernsLeaks(rest) || len(p.processes) == mostProcesses {
			return false, p.isOpen()
		}
		at = &memcheckProcess{process: capture.Process{PID: uint32(pid)}}
		at.out = p.out
		if p.processes == nil {
			p.processes = map[int64]*memcheckProcess{}
		}
		p.processes[pid] = at
	}
	mine, whole := at.line(p.in, rest, number)
	if whole {
		delete(p.processes, pid)
	}
	return mine, p.isOpen()
}

func (p *memcheckParser) isOpen() bool {
	for _, at := range p.processes {
		if at.list != nil {
			return true
		}
	}
	return false
}

func (p *memcheckParser) end() {
	for pid, at := range p.processes {
		at.take()
		at.finish()
		if at.list != nil {
			at.list.broken = cmp.Or(at.list.broken, at.since)
		}
		delete(p.processes, pid)
	}
}

// cutValgrind cuts "==4242== " off a line.
func cutValgrind(text []byte) (pid int64, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(text, []byte("==")); !ok || len(rest) == 0 || rest[0] < '0' || rest[0] > '9' {
		return 0, nil, false
	}
	if pid, rest, ok = cutDecimal(rest); !ok || pid >= 1<<32 {
		return 0, nil, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte("=="))
	return pid, bytes.TrimSpace(rest), ok && (len(rest) == 0 || rest[0] == ' ')
}

// concernsLeaks reports whether a line may be the first of a process that matters.
func concernsLeaks(text []byte) bool {
	return hasPrefix(text, "Command: ") || hasPrefix(text, "LEAK SUMMARY:") ||
		hasPrefix(text, "All heap blocks were freed") || bytes.Contains(text, []byte(" in loss record "))
}

// line reads a line of the process; whole says that its list is.
func (p *memcheckProcess) line(in *lane, text []byte, number int64) (mine, whole bool) {
	switch {
	case len(text) == 0:
		p.take()
		return p.list != nil, false
	case hasPrefix(text, "Command: "):
		p.process.Name = commandName(validText(text[len("Command: "):], longestFile))
		return true, false
	case hasPrefix(text, "LEAK SUMMARY:"):
		p.take()
		p.begin(in, number)
		p.finish()
		p.inSummary = true
	case hasPrefix(text, "All heap blocks were freed"):
		p.begin(in, number)
		return true, true
	case hasPrefix(text, "at 0x"), hasPrefix(text, "by 0x"):
		f, ok := memcheckFrame(text[len("at "):], p.process.Name)
		if !p.open || !ok {
			return false, false
		}
		if len(p.stack) < mostFrames {
			p.stack = append(p.stack, f)
		}
	case p.inSummary:
		if p.summary(text, number) {
			return true, true
		}
	default:
		if !p.record(in, text, number) {
			return false, false
		}
	}
	p.since = number
	return true, false
}

func (p *memcheckProcess) begin(in *lane, number int64) {
	if p.list == nil {
		p.list = p.out.list(KindMemcheck, in, p.process, number)
	}
}

// record reads the first line of a record.
func (p *memcheckProcess) record(in *lane, text []byte, number int64) bool {
	r, rest, ok := cutLoss(text)
	if !ok {
		return false
	}
	for _, kind := range lossKinds {
		if bytes.Contains(rest, []byte(kind.words+" in loss record ")) {
			p.take()
			p.begin(in, number)
			p.open, p.leak, p.reach, p.stack = true, r, kind.reach, p.stack[:0]
			return true
		}
	}
	return false
}

// take counts the record that is under way in.
func (p *memcheckProcess) take() {
	if p.open && p.list != nil {
		p.add(p.stack, p.reach, p.leak)
	}
	p.open = false
}

// summary reads a line below LEAK SUMMARY, and reports whether it is the last.
func (p *memcheckProcess) summary(text []byte, number int64) (last bool) {
	for _, kind := range lossKinds {
		rest, ok := bytes.CutPrefix(text, []byte(kind.words+": "))
		if !ok {
			continue
		}
		if r, _, ok := cutLoss(rest); ok && p.list != nil {
			p.sum(kind.reach, r.blocks, r.bytes, number)
		}
	}
	return hasPrefix(text, "suppressed: ") || hasPrefix(text, "ERROR SUMMARY: ")
}

// commandName is the name of the program of a command, "tests" of "./out/tests --all".
func commandName(command string) string {
	path, _, _ := strings.Cut(command, " ")
	return path[strings.LastIndexAny(path, `\/`)+1:]
}

// memcheckFrame reads "0x10931F: Cache::Add(int) (cache.cpp:88)", "0x48485C3: malloc (in /usr/lib/vgpreload.so)" and
// "0x4A3B: ???".
func memcheckFrame(text []byte, program string) (f frame, ok bool) {
	at := bytes.Index(text, []byte(": "))
	if at < 0 {
		return f, false
	}
	if f.address, ok = hexNumber(text[:at]); !ok {
		return f, false
	}
	function := text[at+len(": "):]
	if at := bytes.LastIndex(function, []byte(" (")); at > 0 && function[len(function)-1] == ')' {
		place := function[at+len(" (") : len(function)-1]
		if path, ok := bytes.CutPrefix(place, []byte("in ")); ok {
			f.Module, function = moduleName(path), function[:at]
		} else if colon := bytes.LastIndexByte(place, ':'); colon > 0 {
			if n, err := strconv.ParseUint(string(place[colon+1:]), 10, 32); err == nil {
				f.File, f.Line, function = validText(place[:colon], longestFile), uint32(n), function[:at]
				f.Module = moduleName([]byte(program))
			}
		}
	}
	if f.Function = validText(function, longestFunction); f.Function == "???" {
		f.Function = ""
		if f.Module != "" {
			f.Offset = f.address
		}
		return f, true
	}
	f.address = 0 // of the process, and the name is known
	return f, f.Function != ""
}
