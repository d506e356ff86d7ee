package web

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/web/problem"
)

// policy lets pages load from this server only; no script or style stands in a page.
const policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// headers sets what every answer carries.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		return next(c)
	}
}

var crossOrigin = http.NewCrossOriginProtection()

// sameOrigin refuses requests that change something and that a browser sends on behalf of another site.
func sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := crossOrigin.Check(c.Request()); err != nil {
			return problem.New(http.StatusForbidden, "cross-origin", "the request comes from a page of another site")
		}
		return next(c)
	}
}

// addressed refuses requests for hosts that the server does not answer for. A site of others can let its own name point
// to this machine, and the browser takes its pages and the server for one origin then: no other check sees that.
// Questions for health are answered anyway, since those who ask go by address.
func (s *Server) addressed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		host := hostName(c.Request().Host)
		if len(s.opt.Hosts) > 0 && c.Path() != healthPath && c.Path() != readyPath && !slices.Contains(s.opt.Hosts, host) {
			return problem.New(http.StatusMisdirectedRequest, "wrong-host",
				"the server does not answer for host %q; ask it for %s, or name the host in HEAPDRIFT_HOSTS where the server runs",
				host, s.opt.Hosts[0])
		}
		return next(c)
	}
}

// hostName is the name or address of a Host header, without its port, as Options.Hosts has it.
func hostName(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
