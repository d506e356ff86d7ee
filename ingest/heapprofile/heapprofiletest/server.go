package heapprofiletest

// Server is a process after so many steps of work. It has a leak, a cache that fills up, blocks that come and go, and
// blocks that stay. Each life is another start of the same program: its addresses, process id and recorded blocks
// differ.
func Server(steps int, life uint64) *Process {
	shift := life << 24
	p := &Process{PID: 4242 + int(life), Rate: 512 << 10, Seed: life, Modules: []Module{
		{"/srv/app/server", 0x55d0c0de0000 + shift, 0x60000},
		{"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", 0x7f20f3000000 + shift, 0x90000},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f20f4000000 + shift, 0x1e0000},
		{"/srv/app/libimage.so", 0x7f20f5000000 + shift, 0x40000},
	}}
	return p.at(steps)
}

// WindowsServer is the same program on Windows, with a profiler that records every block.
func WindowsServer(steps int, life uint64) *Process {
	shift := life << 24
	p := &Process{PID: 4242 + int(life), Seed: life, Windows: true, Modules: []Module{
		{`C:\app\server.exe`, 0x7ff6a1b20000 + shift, 0x60000},
		{`C:\app\tcmalloc.dll`, 0x7ffa10000000 + shift, 0x90000},
		{`C:\Windows\System32\ntdll.dll`, 0x7ffb20000000 + shift, 0x1e0000},
		{`C:\app\image.dll`, 0x7ffa20000000 + shift, 0x40000},
	}}
	return p.at(steps)
}

// at fills in the sites.
func (p *Process) at(steps int) *Process {
	allocator := []Frame{{1, 0x1f06, []string{"malloc"}}}
	root := []Frame{{0, 0x3100, []string{"Server::Run(int)"}}, {0, 0x40ff, []string{"main"}},
		{2, 0x29d90, []string{"__libc_start_call_main"}}}
	stack := func(frames ...Frame) []Frame {
		return append(append(append([]Frame{}, allocator...), frames...), root...)
	}
	p.Sites = []Site{
		{stack(Frame{0, 0x5a10, []string{"Session::Open(int)"}}), 9000, 0, 700 * steps},
		{stack(Frame{3, 0x2210, []string{"Tile::Load()"}}, Frame{3, 0x2400, []string{"Pool::Take()", "Cache::Fill()"}}), 65536, 0, min(120*steps, 480)},
		{stack(Frame{0, 0x6b00, []string{"Request::Parse(char const*)"}}), 4096, 900 * steps, 900*steps + 1500},
		{stack(Frame{0, 0x7000, []string{"Config::Load()"}}), 1 << 20, 0, 12},
	}
	return p
}
