package push_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/push"
)

// The fork goes with each file; the commits go once, before the run is complete, and an older server is no failure.
func TestSendLine(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusMethodNotAllowed} {
		f := newFake(t)
		var sent, order []string
		f.before = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/complete") {
				order = append(order, "complete")
			}
			if !strings.HasSuffix(r.URL.EscapedPath(), "/ancestors") {
				return false
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			sent = append(sent, r.Method+" "+r.URL.EscapedPath()+" "+string(body))
			order = append(order, "ancestors")
			w.WriteHeader(status)
			return true
		}
		c, _ := f.client()
		noted := ""
		c.Note = func(text string) { noted = text }
		p := files(t, map[string]int{"a.txt": 10, "b.txt": 20})
		p.Target.Fork, p.Target.Ancestors = "b0", []string{"c3", "c2"}
		if _, err := c.Send(t.Context(), p, &fileLog{}); err != nil {
			t.Fatal(err)
		}
		if len(sent) != 1 || sent[0] != "PUT /api/v1/projects/shop/builds/b1/ancestors c3\nc2\n" ||
			strings.Join(order, " ") != "ancestors complete" || (noted == "") != (status == http.StatusOK) {
			t.Errorf("%d: %q %q %q", status, sent, order, noted)
		}
		for _, u := range f.uploads {
			if u.fields["fork"] != "b0" || u.fields["ancestors"] != "" {
				t.Errorf("%v", u.fields)
			}
		}
	}
}

// Lists of a verdict are read as signatures, whether a server gives these or rows; what an older server does not say is
// empty.
func TestVerdictOfServers(t *testing.T) {
	for _, test := range []struct {
		text      string
		found     []string
		undecided int
		rerun     bool
		wrong     bool
	}{
		{`{"new":["a","b"]}`, []string{"a", "b"}, 0, false, false},
		{`{"new":[{"signature":"a","after":"1","since":"2","told":null},"b"],"undecided":[],"rerun":false}`, []string{"a", "b"}, 0, false, false},
		{`{"new":null,"rerun":true,"undecided":[{"signature":"c","change":"new","probability":0.5,"bytes":12}]}`, nil, 1, true, false},
		{`{"new":[1]}`, nil, 0, false, true},
	} {
		var v push.RunVerdict
		err := json.Unmarshal([]byte(test.text), &v)
		if test.wrong {
			if err == nil {
				t.Errorf("%s is read as %q", test.text, v.New)
			}
			continue
		}
		if err != nil || !slices.Equal(v.New, test.found) || len(v.Undecided) != test.undecided || v.Rerun != test.rerun {
			t.Errorf("%s: %+v, %v", test.text, v, err)
		}
		if test.undecided > 0 && (*v.Undecided[0].Probability != 0.5 || *v.Undecided[0].Bytes != 12) {
			t.Errorf("%+v", v.Undecided)
		}
	}
}
