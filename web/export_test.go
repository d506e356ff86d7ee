package web

import "github.com/labstack/echo/v4"

// Routes are all routes of a server.
func (s *Server) Routes() []*echo.Route { return s.echo.Routes() }
