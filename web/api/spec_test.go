package api_test

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/labstack/echo/v4"

	"heapdrift/web/api"
)

var spec = sync.OnceValues(func() (*openapi3.T, error) {
	for _, media := range []string{"text/markdown", "application/xml"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
	return openapi3.NewLoader().LoadFromData(api.OpenAPISpec)
})

var router = sync.OnceValues(func() (routers.Router, error) {
	doc, err := spec()
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// checkAgainstSpec checks an answer of the API against its description.
func checkAgainstSpec(t testing.TB, req *http.Request, res *http.Response, body []byte) {
	t.Helper()
	r, err := router()
	if err != nil {
		t.Fatal(err)
	}
	route, params, err := r.FindRoute(req)
	if err != nil {
		if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed &&
			res.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %v, but it answers %d", req.Method, req.URL.Path, err, res.StatusCode)
		}
		return
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: the answer is not what openapi.yaml says: %v", req.Method, req.URL.Path, err)
	}
}

var routeParam = regexp.MustCompile(`:([A-Za-z_]+)`)

func TestSpec(t *testing.T) {
	doc, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	api.New(api.Options{}).Register(e)
	routes := map[string]bool{}
	for _, r := range e.Routes() {
		if strings.HasPrefix(r.Path, "/api/") || strings.HasPrefix(r.Path, "/symbols/:") {
			routes[r.Method+" "+routeParam.ReplaceAllString(r.Path, "{$1}")] = true
		}
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			if !routes[method+" "+path] {
				t.Errorf("openapi.yaml describes %s %s, which is no route", method, path)
			}
			delete(routes, method+" "+path)
		}
	}
	for route := range routes {
		t.Errorf("openapi.yaml lacks %s", route)
	}
}

func TestSpecServed(t *testing.T) {
	a := start(t).do("GET", "/api/v1/openapi.yaml", nil).want(t, 200, "")
	if !bytes.Equal(a.body, api.OpenAPISpec) {
		t.Error("another description is served")
	}
}
