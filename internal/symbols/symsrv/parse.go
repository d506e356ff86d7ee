package symsrv

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

const (
	// A variable of the environment holds at most 32,767 characters on Windows.
	// https://learn.microsoft.com/windows/win32/procthread/environment-variables
	maxPath = 32767

	microsoftServer = "https://msdl.microsoft.com/download/symbols"
)

// A SymbolPath is a symbol path, ready to be searched by any number of goroutines.
type SymbolPath struct {
	elements []element
	opt      Options
	client   *http.Client
	slots    chan struct{} // one per request that is under way
	folders  folders
	trees    trees
	missing  missCache
	servers  map[string]*server
	finds    flights[outcome]
	indexes  flights[tiers]
	indexDir string
}

// An element is one part of the path between semicolons.
type element struct {
	kind   elementKind
	caches []level // of every cache* to the left, in their order
	levels []level // a directory or a cache has one
}

type elementKind int

const (
	chainElement elementKind = iota
	directoryElement
	cacheElement
)

// A level is one store of a chain, or a plain directory.
type level struct {
	text     string  // as written; empty for the default downstream store
	server   *server // a server, or
	base     string  // a directory that is opened as it is written, and
	rest     string  // the way on from there, matched without regard to case
	unmapped bool    // a directory of another machine, which no mapping covers
}

// Parse reads a symbol path. Empty elements are skipped; an *Error names the element that is wrong.
func Parse(text string, opt Options) (*SymbolPath, error) {
	if len(text) > maxPath {
		return nil, &Error{Code: CodeTooLong,
			Message: fmt.Sprintf("the symbol path has %d bytes; Windows allows %d", len(text), maxPath)}
	}
	opt.Limits = opt.Limits.withDefaults()
	if opt.Log == nil {
		opt.Log = silent{}
	}
	p := &SymbolPath{
		opt:     opt,
		slots:   make(chan struct{}, max(opt.Limits.Parallel, 1)),
		servers: make(map[string]*server),
		missing: missCache{directory: opt.Missing, keep: opt.Limits.Missing},
	}
	var err error
	if p.client, err = newClient(&p.opt); err != nil {
		return nil, err
	}
	var caches []level
	position := 0
	for part := range strings.SplitSeq(text, ";") {
		part = bare(part)
		if part == "" {
			continue
		}
		position++
		e, err := p.element(part)
		if err != nil {
			err.Element, err.Position = redacted(part), position
			return nil, err
		}
		e.caches = caches[:len(caches):len(caches)]
		if len(e.levels) == 1 && e.levels[0].server != nil && len(caches) == 0 {
			// What a server gives must be kept somewhere: srv*URL uses the default store whether it says so or not.
			e.levels = []level{p.directory(""), e.levels[0]}
		}
		if e.kind == cacheElement {
			caches = append(caches, e.levels...)
		}
		p.elements = append(p.elements, e)
	}
	return p, nil
}

// bare is a text without the blanks and quotation marks around it, which people copy along.
func bare(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
}

// element reads one element; the caller adds where it stands to the error.
func (p *SymbolPath) element(text string) (element, *Error) {
	fields := strings.Split(text, "*")
	for i := range fields {
		fields[i] = bare(fields[i])
	}
	switch keyword := strings.ToLower(fields[0]); {
	case len(fields) == 1 && (keyword == "srv" || keyword == "symsrv" || keyword == "cache"):
		return element{}, &Error{Code: CodeUnknownKeyword, Message: keyword +
			` needs an asterisk after it, as in srv*C:\Symbols; for a directory of that name write .\` + keyword}
	case keyword == "srv":
		return p.chain(fields[1:])
	case keyword == "symsrv":
		if dll := strings.ToLower(BaseName(fields[1])); dll != "symsrv.dll" && dll != "symsrv" {
			return element{}, &Error{Code: CodeUnknownDLL,
				Message: fmt.Sprintf("only symsrv.dll is known as symbol server, not %q: write symsrv*symsrv.dll*STORE, or srv*STORE", fields[1])}
		}
		return p.chain(fields[2:])
	case keyword == "cache":
		return p.cache(fields[1:])
	case len(fields) > 1 && !strings.ContainsAny(fields[0], `/\:`):
		return element{}, &Error{Code: CodeUnknownKeyword,
			Message: fmt.Sprintf("%q is no keyword of a symbol path: srv, symsrv and cache are", fields[0])}
	case len(fields) > 1: // stores may be chained without srv* before them
		return p.chain(fields)
	case isURL(text):
		return element{}, &Error{Code: CodeBareURL, Message: "a server is part of a chain: write srv* before it"}
	}
	lv, err := p.level(text)
	return element{kind: directoryElement, levels: []level{lv}}, err
}

// chain reads the stores of an element. None at all, or a single empty one, is srv*: WinDbg expands it to the default
// store and Microsoft's server.
func (p *SymbolPath) chain(stores []string) (element, *Error) {
	if len(stores) == 0 || len(stores) == 1 && stores[0] == "" {
		stores = []string{"", microsoftServer}
	}
	e := element{kind: chainElement}
	for i, store := range stores {
		lv, err := p.level(store)
		if err != nil {
			return e, err
		}
		if lv.server != nil && i < len(stores)-1 {
			return e, &Error{Code: CodeURLNotLast,
				Message: fmt.Sprintf("%s cannot be written to, so it must be the last store of its chain", lv.server.name)}
		}
		e.levels = append(e.levels, lv)
	}
	return e, nil
}

func (p *SymbolPath) cache(dirs []string) (element, *Error) {
	if len(dirs) > 1 {
		return element{}, &Error{Code: CodeBadCache,
			Message: "cache* takes one directory; chains of stores are written srv*…"}
	}
	if isURL(dirs[0]) {
		return element{}, &Error{Code: CodeBadCache, Message: "a server cannot be a cache: write srv* before it"}
	}
	lv, err := p.level(dirs[0])
	return element{kind: cacheElement, levels: []level{lv}}, err
}

func (p *SymbolPath) level(text string) (level, *Error) {
	if isURL(text) {
		sv, err := p.server(text)
		return level{text: text, server: sv}, err
	}
	return p.directory(text), nil
}

// directory says where a directory of the path lies on this machine.
func (p *SymbolPath) directory(text string) level {
	lv := level{text: text}
	var ok bool
	if text == "" {
		lv.base = p.opt.Cache
	} else if lv.base, lv.rest, ok = mapped(text, p.opt.Map); !ok {
		lv.base, lv.rest = "", ""
		if lv.unmapped = foreign(text); !lv.unmapped {
			lv.base = native(text)
		}
	}
	return lv
}

// server returns the server of that URL; elements that name it again share what was learned about it.
func (p *SymbolPath) server(text string) (*server, *Error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, &Error{Code: CodeBadURL, Message: "the server's URL cannot be read"} // err would repeat a password
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return nil, &Error{Code: CodeBadURL, Message: fmt.Sprintf("a server is asked over http or https, not %s", u.Scheme)}
	case u.Hostname() == "":
		return nil, &Error{Code: CodeBadURL, Message: "the server's URL has no host"}
	case strings.ContainsAny(u.Host, "\"*;<>\\^`{|} "): // no host has them, and a symbol path gives some another meaning
		return nil, &Error{Code: CodeBadURL, Message: fmt.Sprintf("%q is not a host", u.Host)}
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if strings.EqualFold(u.Hostname(), "msdl.microsoft.com") && u.Scheme == "http" {
		u.Scheme, u.Host = "https", u.Hostname() // it has redirected for years; PDBs are not to be had in the clear
	}
	u.Path, u.RawPath, u.Fragment = strings.TrimRight(u.Path, "/"), "", ""
	if sv := p.servers[u.String()]; sv != nil {
		return sv, nil
	}
	sv := &server{base: u, name: shown(u)}
	p.servers[u.String()] = sv
	return sv, nil
}

func isURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\`)
}

// shown returns a URL without what must not be read by everybody: a user's password, and the query, where Azure and
// S3 have their signatures.
func shown(u *url.URL) string {
	v := *u
	v.RawQuery, v.ForceQuery = "", false
	return v.Redacted()
}

// redacted returns an element with its URLs as shown prints them.
func redacted(text string) string {
	fields := strings.Split(text, "*")
	for i, field := range fields {
		if !isURL(field) {
			continue
		}
		if u, err := url.Parse(strings.TrimSpace(field)); err == nil {
			fields[i] = shown(u)
		} else {
			fields[i] = "(a URL that cannot be read)"
		}
	}
	return strings.Join(fields, "*")
}

// String prints the path as it was understood, without passwords; srv* and other short forms are written out. Empty
// levels stand for the default downstream store.
func (p *SymbolPath) String() string {
	parts := make([]string, 0, len(p.elements))
	for _, e := range p.elements {
		texts := make([]string, 0, len(e.levels))
		for _, lv := range e.levels {
			if lv.server != nil {
				texts = append(texts, lv.server.name)
			} else {
				texts = append(texts, lv.text)
			}
		}
		text := strings.Join(texts, "*")
		switch e.kind {
		case chainElement:
			text = "srv*" + text
		case cacheElement:
			text = "cache*" + text
		case directoryElement:
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ";")
}
