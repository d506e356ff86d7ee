package analysis

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// waitedInVain are the results of attempts after which it is unknown whether the server has the file.
var waitedInVain = []string{"waiting", "failed"}

// pendingSymbols names, for each symbol server that did not answer in time, the files that it may have: another search
// may find them.
func pendingSymbols(modules []Module) []Warning {
	var servers []string
	files := map[string][]string{}
	for i := range modules {
		m := &modules[i]
		if m.Symbols != capture.SymbolsNone && m.Symbols != capture.SymbolsExport && m.Symbols != capture.SymbolsText {
			continue
		}
		for _, a := range m.Tried {
			server, ok := serverOf(a.Place)
			if !ok || !slices.Contains(waitedInVain, a.Result) {
				continue
			}
			if files[server] == nil {
				servers = append(servers, server)
			}
			if wanted := m.MissingSymbolsText(); !slices.Contains(files[server], wanted) {
				files[server] = append(files[server], wanted)
			}
		}
	}
	var list []Warning
	for _, server := range servers {
		list = append(list, Warning{Code: capture.SymbolsPending, Count: int64(len(files[server])), Message: fmt.Sprintf(
			"Search for symbols again later, or raise HEAPDRIFT_SYMBOL_WAIT: the symbol server %s did not answer in time. It may have %s.",
			server, someOf(files[server]))})
	}
	return list
}

// serverOf is the host of a place that is a URL.
func serverOf(place string) (string, bool) {
	if !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://") {
		return "", false
	}
	u, err := url.Parse(place)
	if err != nil || u.Host == "" {
		return "", false
	}
	return u.Host, true
}

// someOf lists the first few names and how many more there are.
func someOf(names []string) string {
	const most = 5
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", quantity.Count(int64(more)))
	}
	return text
}
