package symsrv

import (
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxPointer bounds file.ptr: it holds one path or one sentence.
const maxPointer = 32 << 10

// pointer is what a file.ptr says: a path, or a message why the file is not to be had.
type pointer struct {
	path    string
	message string
	isPath  bool
}

// parsePointer reads the first line of a file.ptr: "PATH:" and a path, "MSG:" and a text, or a path alone.
func parsePointer(content string) pointer {
	content = strings.TrimPrefix(content, "\ufeff")
	line, _, _ := strings.Cut(strings.TrimLeft(content, " \t\r\n"), "\n")
	line = strings.Trim(line, " \t\r\n\x00")
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, "\ufffd")
	}
	if message, ok := cutKeyword(line, "MSG:"); ok {
		return pointer{message: message}
	}
	line, _ = cutKeyword(line, "PATH:")
	return pointer{path: strings.Trim(line, `"`), isPath: true}
}

func cutKeyword(line, keyword string) (string, bool) {
	if len(line) < len(keyword) || !strings.EqualFold(line[:len(keyword)], keyword) {
		return line, false
	}
	return strings.TrimSpace(line[len(keyword):]), true
}

// readPointer reads a file.ptr.
func readPointer(file string) (pointer, error) {
	f, err := os.Open(file)
	if err != nil {
		return pointer{}, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxPointer))
	return parsePointer(string(content)), err
}

// follow goes where a file.ptr of a store points. remote says that a server sent it: what a server says is followed
// into mapped directories and to allowed servers, never to any other file of this machine.
func (s *search) follow(ctx context.Context, place, file string, remote bool, from origin) (LocalFile, bool) {
	ptr, err := readPointer(file)
	switch {
	case err != nil:
		s.note(place, ResultFailed, err.Error())
		return LocalFile{}, false
	case !ptr.isPath:
		s.note(place, ResultPointerMessage, ptr.message)
		return LocalFile{}, false
	case ptr.path == "":
		s.note(place, ResultFailed, "the pointer is empty")
		return LocalFile{}, false
	}
	name := BaseName(ptr.path)
	if isURL(ptr.path) {
		name, _, _ = strings.Cut(name, "?")
	}
	if !strings.EqualFold(name, s.want.Name) && !strings.EqualFold(name, CompressedName(s.want.Name)) {
		s.note(place, ResultRefused, "it points to another file, "+shorten(ptr.path))
		return LocalFile{}, false
	}
	if isURL(ptr.path) {
		return s.followURL(ctx, place, ptr.path, from)
	}
	target, why := s.target(ptr.path, place, remote)
	if why != "" {
		s.note(place, ResultRefused, why)
		return LocalFile{}, false
	}
	for found, err := range s.folders.files(filepath.Dir(target), filepath.Base(target)) {
		if err != nil {
			s.note(target, ResultFailed, err.Error())
			continue
		}
		return s.accept(ctx, candidate{place: found, path: found}, from)
	}
	s.note(place, ResultNotFound, "it points to "+shorten(ptr.path)+", where there is no file")
	return LocalFile{}, false
}

// followURL fetches what a file.ptr points to.
func (s *search) followURL(ctx context.Context, place, address string, from origin) (LocalFile, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		s.note(place, ResultRefused, "it points to a URL that cannot be asked")
		return LocalFile{}, false
	}
	if !s.path.opt.allowed(u) {
		s.note(shown(u), ResultNotAllowed, "it was not asked: "+notAllowed(u.Host))
		return LocalFile{}, false
	}
	r, home := s.ask(ctx, u, FormPlain, from.stores)
	if r.result != ResultFound {
		if r.result == ResultOutOfTime {
			s.waits = append(s.waits, u.Host)
		}
		s.note(shown(u), r.result, r.detail)
		return LocalFile{}, false
	}
	return s.received(ctx, u, FormPlain, r.file, home, from.stores)
}

// target returns where a path of a file.ptr lies on this machine, or why it is not followed.
func (s *search) target(path, place string, remote bool) (target, why string) {
	if climbs(path) {
		return "", "it points upwards, to " + shorten(path)
	}
	if base, rest, ok := mapped(path, s.path.opt.Map); ok {
		return s.folders.resolve(base, strings.Split(rest, "/")...), ""
	}
	switch {
	case foreign(path):
		return "", "it points to " + shorten(path) + ", and no mapping says where that lies on this machine"
	case remote:
		return "", "a server's pointer is followed into mapped directories only, not to " + shorten(path)
	case !filepath.IsAbs(native(path)):
		return filepath.Join(filepath.Dir(place), native(path)), ""
	}
	return native(path), ""
}

// shorten cuts a pointer's text to 300 bytes and redacts URLs, for messages.
func shorten(text string) string {
	if isURL(text) {
		text = redacted(text)
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}
