package main

import "testing"

func TestParse(t *testing.T) {
	r := parse("fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\nfuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 1 (total: 4)\nfuzz: elapsed: 1m6s, execs: 9876 (3291/sec), new interesting: 0 (total: 5)\nPASS\n")
	if r.executions != 9876 || r.seconds != 66 {
		t.Errorf("%+v", r)
	}
}
