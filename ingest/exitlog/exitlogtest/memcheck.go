package exitlogtest

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

func init() {
	for kind, write := range map[string]writer{
		"heob": writeHeob, "heob in groups": writeHeobGroups, "heob xml": writeHeobXML,
		"valgrind": writeValgrind, "valgrind xml": writeValgrindXML,
	} {
		writers[kind] = write
	}
}

func base(path string) string { return path[strings.LastIndexByte(path, '\\')+1:] }

// writeHeob writes what heob prints for each block by itself.
func writeHeob(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	b.WriteString("\nleaks:\n")
	for i, l := range t.Left {
		fmt.Fprintf(b, "  %d B (#%d)\n%27s[malloc]\n", l.Size, i+1, "")
		fmt.Fprintf(b, "    0x0000000140000000   %s\n", s.Program)
		fmt.Fprintf(b, "      0x%016X   %s:%d [%s]\n      0x%016X   main.cpp:12:3 [main]\n", 0x140000000+r.Uint64N(1<<20), base(l.File), l.Line, l.Function, 0x140000000+r.Uint64N(1<<20))
		fmt.Fprintf(b, "    0x00007FF8C3000000   KERNEL32.DLL\n      0x%016X   [BaseThreadInitThunk]\n", 0x7FF8C3000000+r.Uint64N(1<<20))
	}
	fmt.Fprintf(b, "  sum: %d B / %d\nexit code: 0 (0x00000000)\n", t.bytes(), len(t.Left))
}

// writeHeobGroups writes what heob prints with -l2 -g2: the calls that blocks have in common come behind them.
func writeHeobGroups(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	b.WriteString("\nleaks (lost):\n")
	for i, l := range t.Left {
		fmt.Fprintf(b, "  | | %d B (#%d) '1 [4242]: main thread'\n  | | %25s[new]\n", l.Size, i+1, "")
		fmt.Fprintf(b, "  | |   0x0000000140000000   %s\n", s.Program)
		fmt.Fprintf(b, "  | |     0x%016X   %s:%d [%s]\n", 0x140000000+r.Uint64N(1<<20), base(l.File), l.Line, l.Function)
	}
	fmt.Fprintf(b, "  | sum: %d B / %d\n", t.bytes(), len(t.Left))
	fmt.Fprintf(b, "  |   0x0000000140000000   %s\n  |     0x%016X   main.cpp:12 [main]\n", s.Program, 0x140000000+r.Uint64N(1<<20))
	fmt.Fprintf(b, "  sum: %d B / %d\nexit code: 0 (0x00000000)\n", t.bytes(), len(t.Left))
}

func writeHeobXML(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	s.xml(b, "heob", "<arg>-xleaks.xml</arg>\n    <arg>-l2</arg>")
	for i, l := range t.Left {
		fmt.Fprintf(b, "<error>\n  <unique>%#x</unique>\n  <tid>1</tid>\n  <kind>Leak_DefinitelyLost</kind>\n  <xwhat>\n", i+1)
		fmt.Fprintf(b, "    <text>%d bytes in 1 blocks are lost in loss record %d of %d (#%d)</text>\n", l.Size, i+1, len(t.Left), i+1)
		fmt.Fprintf(b, "    <leakedbytes>%d</leakedbytes>\n    <leakedblocks>1</leakedblocks>\n  </xwhat>\n  <stack>\n", l.Size)
		b.WriteString("    <frame>\n      <fn>malloc</fn>\n    </frame>\n")
		frame(b, `C:\build\`+s.Program, l.Function, strings.ReplaceAll(l.File[:strings.LastIndexByte(l.File, '\\')], `\`, "/"), base(l.File), l.Line, r)
		frame(b, `C:\build\`+s.Program, "main", "c:/src", "main.cpp", 12, r)
		b.WriteString("  </stack>\n</error>\n\n")
	}
	b.WriteString("<status>\n  <state>FINISHED</state>\n  <time>00:00:00:00.678</time>\n</status>\n\n</valgrindoutput>\n")
}

// xml writes what stands before the errors.
func (s *Suite) xml(b *strings.Builder, tool, args string) {
	b.WriteString("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n<protocolversion>4</protocolversion>\n<protocoltool>memcheck</protocoltool>\n\n")
	fmt.Fprintf(b, "<preamble>\n  <line>%s</line>\n</preamble>\n\n<pid>%d</pid>\n<ppid>1</ppid>\n<tool>%s</tool>\n\n", tool, s.pid(), tool)
	fmt.Fprintf(b, "<args>\n  <vargv>\n    <exe>%s</exe>\n    %s\n  </vargv>\n  <argv>\n    <exe>C:\\build\\%s</exe>\n    <arg>-l9</arg>\n  </argv>\n</args>\n\n", tool, args, s.Program)
	b.WriteString("<status>\n  <state>RUNNING</state>\n  <time>00:00:00:00.012</time>\n</status>\n\n")
}

func frame(b *strings.Builder, module, function, dir, file string, line int, r *rand.Rand) {
	fmt.Fprintf(b, "    <frame>\n      <ip>%#x</ip>\n      <obj>%s</obj>\n      <fn>%s</fn>\n", r.Uint32(), module, html.EscapeString(function))
	fmt.Fprintf(b, "      <dir>%s</dir>\n      <file>%s</file>\n      <line>%d</line>\n    </frame>\n", dir, file, line)
}

// writeValgrind writes what Valgrind prints, with a second process between the lines.
func writeValgrind(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	fmt.Fprintf(b, "==%d== Memcheck, a memory error detector\n==%d== Command: ./out/%s --all\n==%d== \n", s.pid(), s.pid(), s.Program, s.pid())
	fmt.Fprintf(b, "==%d== HEAP SUMMARY:\n==%d==     in use at exit: %d bytes in %d blocks\n==%d== \n", s.pid(), s.pid(), t.bytes(), len(t.Left), s.pid())
	for i, l := range t.Left {
		fmt.Fprintf(b, "==%d== %s bytes in 1 blocks are definitely lost in loss record %d of %d\n", s.pid(), grouped(l.Size), i+1, len(t.Left))
		fmt.Fprintf(b, "==%d==    at 0x%X: operator new(unsigned long) (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)\n", s.pid(), r.Uint32())
		fmt.Fprintf(b, "==%d== a line of another process\n==%d==    by 0x%X: %s(int) (%s:%d)\n", s.pid()+1, s.pid(), r.Uint32(), l.Function, base(l.File), l.Line)
		fmt.Fprintf(b, "==%d==    by 0x%X: main (main.cpp:12)\n==%d== \n", s.pid(), r.Uint32(), s.pid())
	}
	fmt.Fprintf(b, "==%d== LEAK SUMMARY:\n==%d==    definitely lost: %s bytes in %d blocks\n", s.pid(), s.pid(), grouped(t.bytes()), len(t.Left))
	for _, kind := range []string{"   indirectly lost", "     possibly lost", "   still reachable", "        suppressed"} {
		fmt.Fprintf(b, "==%d== %s: 0 bytes in 0 blocks\n", s.pid(), kind)
	}
	fmt.Fprintf(b, "==%d== \n==%d== ERROR SUMMARY: %d errors from %d contexts (suppressed: 0 from 0)\n", s.pid(), s.pid(), len(t.Left), len(t.Left))
}

// grouped is a number below a million as Valgrind prints it.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func writeValgrindXML(b *strings.Builder, s *Suite, t *Test, r *rand.Rand) {
	s.xml(b, "memcheck", "<arg>--xml=yes</arg>")
	b.WriteString("<error>\n  <unique>0x0</unique>\n  <kind>InvalidRead</kind>\n  <what>Invalid read of size 4</what>\n  <stack>\n")
	frame(b, "/out/tests", "main", "/src", "main.cpp", 12, r)
	b.WriteString("  </stack>\n</error>\n\n<status>\n  <state>FINISHED</state>\n</status>\n\n")
	for i, l := range t.Left {
		fmt.Fprintf(b, "<error>\n  <unique>%#x</unique>\n  <kind>Leak_DefinitelyLost</kind>\n  <xwhat>\n", i+1)
		fmt.Fprintf(b, "    <text>%s bytes in 1 blocks are definitely lost in loss record %d of %d</text>\n", grouped(l.Size), i+1, len(t.Left))
		fmt.Fprintf(b, "    <leakedbytes>%d</leakedbytes>\n    <leakedblocks>1</leakedblocks>\n  </xwhat>\n  <stack>\n", l.Size)
		frame(b, "/usr/lib/vgpreload_memcheck-amd64-linux.so", "malloc", "/build", "vg_replace_malloc.c", 307, r)
		frame(b, "/out/tests", l.Function+"(std::vector<int>&)", "/src", base(l.File), l.Line, r)
		b.WriteString("  </stack>\n</error>\n\n")
	}
	b.WriteString("<errorcounts>\n</errorcounts>\n\n</valgrindoutput>\n")
}
