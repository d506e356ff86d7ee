package main

import (
	"io"
	"net"
	"net/url"
	"sync"
)

// A door passes connections on to where it leads.
type door struct {
	address  string
	listener net.Listener

	mu   sync.Mutex
	to   string
	open map[net.Conn]bool
}

func openDoor(to string) (*door, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives as long as the house
	if err != nil {
		return nil, err
	}
	d := &door{address: l.Addr().String(), listener: l, to: to, open: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.pass(c)
		}
	}()
	return d, nil
}

func (d *door) pass(c net.Conn) {
	d.mu.Lock()
	to := d.to
	d.mu.Unlock()
	behind, err := net.Dial("tcp", to) //nolint:noctx // local
	if err != nil {
		_ = c.Close()
		return
	}
	d.mu.Lock()
	d.open[c], d.open[behind] = true, true
	d.mu.Unlock()
	done := func() {
		_, _ = c.Close(), behind.Close() // ends the other direction
		d.mu.Lock()
		delete(d.open, c)
		delete(d.open, behind)
		d.mu.Unlock()
	}
	go func() {
		_, _ = io.Copy(behind, c)
		done()
	}()
	_, _ = io.Copy(c, behind)
	done()
}

// cut breaks all connections.
func (d *door) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		_ = c.Close()
	}
}

// lead has new connections go elsewhere.
func (d *door) lead(to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = to
}

func (d *door) close() {
	_ = d.listener.Close()
	d.cut()
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// through is a database's address through the door.
func through(address, door string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Host = door
	return u.String()
}
