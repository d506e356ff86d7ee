//go:build client

package main

// serverCommands are in the full program alone.
func serverCommands() []command { return nil }

// schema is 0: the client has no database.
func schema() int64 { return 0 }

// runTask does nothing: the client starts no child processes.
func runTask() {}
