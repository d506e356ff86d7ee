package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/web/api"
)

// endless are routes whose answers have no end: their headers tell nothing, and nobody would end them.
var endless = []string{"/runs/:id/events"}

// routeHead has HEAD answered by the handler of GET where no handler of its own is registered: whoever guards a route
// guards both. It comes before the router, which asks the request for its method.
func (s *Server) routeHead(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodHead {
			return next(c)
		}
		found := s.echo.NewContext(r, nil)
		s.echo.Router().Find(http.MethodHead, echo.GetPath(r), found)
		allowed, _ := found.Get(echo.ContextKeyHeaderAllow).(string) // of a path that is there, for other methods
		if slices.Contains(strings.Split(allowed, ", "), http.MethodGet) && !slices.Contains(endless, found.Path()) {
			c.Set(api.HeadKey, true)
			r.Method = http.MethodGet
		}
		return next(c)
	}
}

// answerHead comes behind the router and gives handlers a request of their own. That of net/http is HEAD again: it
// leaves the body out.
func answerHead(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Get(api.HeadKey) != nil {
			r := c.Request()
			c.SetRequest(r.WithContext(r.Context()))
			r.Method = http.MethodHead
		}
		return next(c)
	}
}
