// Package livesnapshot makes a capture of the heaps of a process that runs on this machine, as package ingest/dump does
// of a dump: in comes the number of the process, out goes a capture and what it cost.
//
// The process is suspended. Where the system can clone its address space, that takes the pause, and the clone is read
// while the process goes on. Where it cannot, the heaps are walked in the suspended process itself and it goes on
// when its blocks and their stacks have been read. They are not copied first: a walk reads each byte once, so that a
// copy takes as long as the walk, and as much memory as the heaps have.
//
// # The limit
//
// A process is suspended no longer than Options.PauseLimit. Then it goes on, reading of heaps ends, and the capture
// says what was not read. It goes on in any case: when reading fails, when the context ends and when this package
// panics. If this program is killed, a process that it has started for that lets the process go on: see package
// resumer. The cost says why there is none.
//
// # What is kept
//
// Addresses, sizes and stacks of blocks, modules, and figures of the system. What blocks contain is not looked at.
package livesnapshot
