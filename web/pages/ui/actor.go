package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
)

// actorCookie remembers the name that someone typed into a form, so that the next form has it already.
const actorCookie = "heapdrift_actor"

// RememberedActor is the name that forms are filled with, "" where none was typed yet.
func RememberedActor(c echo.Context) string {
	cookie, err := c.Cookie(actorCookie)
	if err != nil {
		return ""
	}
	name, err := url.QueryUnescape(cookie.Value)
	if err != nil || leaks.CheckActor(name) != nil {
		return ""
	}
	return name
}

// ActorOfForm is the name of who sends a form: the user who is logged in. On an open server it is the name that the
// form gives; without such a field, the remembered name.
func ActorOfForm(c echo.Context) string {
	if a := accounts.ActorFrom(c.Request().Context()); a.Known() {
		return a.Name
	}
	if _, asked := c.Request().Form["actor"]; !asked {
		return cmp.Or(RememberedActor(c), leaks.UnnamedActor)
	}
	name := cleanActor(c.FormValue("actor"))
	c.SetCookie(&http.Cookie{
		Name: actorCookie, Value: url.QueryEscape(name), Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.IsTLS(),
	})
	return cmp.Or(name, leaks.UnnamedActor)
}

// cleanActor drops from a typed name what cannot stand in a line, and what is too long for one.
func cleanActor(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(name); len(runes) > leaks.MaxActorChars {
		name = string(runes[:leaks.MaxActorChars])
	}
	return strings.TrimSpace(name)
}
