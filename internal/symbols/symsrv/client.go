package symsrv

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// userAgent is that of a recent symsrv.dll: some servers refuse what does not call itself a symbol server.
const userAgent = "Microsoft-Symbol-Server/10.1710.0.0"

// newClient makes the client of a path: its redirects stay on hosts that may be asked.
func newClient(opt *Options) (*http.Client, error) {
	client := &http.Client{CheckRedirect: opt.redirect}
	if opt.Client != nil {
		client.Transport, client.Jar = opt.Client.Transport, opt.Client.Jar
	}
	if client.Transport != nil {
		return client, nil
	}
	proxy := http.ProxyFromEnvironment
	if opt.Proxy != "" {
		u, err := proxyURL(opt.Proxy)
		if err != nil {
			return nil, err
		}
		proxy = http.ProxyURL(u)
	}
	g := &guard{opt: opt, dialer: net.Dialer{Timeout: opt.Limits.Connect}, through: proxy}
	client.Transport = &http.Transport{
		Proxy:               g.proxy,
		DialContext:         g.dial,
		TLSHandshakeTimeout: opt.Limits.Connect,
		MaxIdleConnsPerHost: opt.Limits.Parallel,
		IdleConnTimeout:     opt.Limits.Header,
		DisableCompression:  true, // fetch asks for gzip and decodes it itself, so that limits see both sizes
		ForceAttemptHTTP2:   true,
	}
	return client, nil
}

// proxyURL reads host:port, as _NT_SYMBOL_PROXY has it, or a URL.
func proxyURL(text string) (*url.URL, error) {
	address := strings.TrimSpace(text)
	if !isURL(address) {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, &Error{Code: CodeBadProxy, Message: "the proxy is neither host:port nor a URL"} // it may hold a password
	}
	return u, nil
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}

// A redirectError says why a redirect was not followed.
type redirectError struct{ why string }

func (e *redirectError) Error() string { return e.why }

// redirect decides on a redirect. It allows one to the same host and port, one from http to https on that host, one to
// a host that may be asked, and one to where the asked server keeps its files.
func (o *Options) redirect(request *http.Request, via []*http.Request) error {
	from, to := via[len(via)-1].URL, request.URL
	request.Header.Del("Referer") // the URL before may be signed
	switch {
	case len(via) > o.Limits.Redirects:
		return &redirectError{fmt.Sprintf("the server redirected more than %d times", o.Limits.Redirects)}
	case from.Scheme == "https" && to.Scheme != "https", to.Scheme != "https" && to.Scheme != "http":
		return &redirectError{"the server redirected from https to " + shown(to)}
	case strings.EqualFold(from.Hostname(), to.Hostname()):
		if portOf(from) == portOf(to) || portOf(from) == "80" && portOf(to) == "443" {
			return nil
		}
	}
	if o.allowed(to) || isStoreOf(via[0].URL, to) {
		return nil
	}
	return &redirectError{"the server redirected, and " + notAllowed(to.Host)}
}
