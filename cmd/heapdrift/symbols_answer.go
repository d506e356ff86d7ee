package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// symbolAnswer is a server's answer to symbols that it has taken.
type symbolAnswer struct {
	Modules []struct {
		Name, Key, Symbols, Note string
		Bits, Runs               int
		New                      bool
	}
	Refused []struct{ Name, Code string }
}

// outcome says it in a line.
func (a symbolAnswer) outcome() symbolOutcome {
	state, runs := "known", 0
	for _, m := range a.Modules {
		if m.New {
			state = "added"
		}
		runs += m.Runs
	}
	var words []string
	if m := a.Modules[0]; len(a.Modules) == 1 {
		words = append(words, m.Key, m.Symbols)
		if m.Bits != 0 {
			words = append(words, fmt.Sprintf("%d-bit", m.Bits))
		}
		if m.Note != "" {
			words = append(words, m.Note)
		}
	} else {
		words = append(words, fmt.Sprintf("%d files", len(a.Modules)))
	}
	if runs > 0 {
		words = append(words, fmt.Sprintf("runs resolved again: %d", runs))
	}
	for _, r := range a.Refused {
		words = append(words, fmt.Sprintf("refused %s (%s)", r.Name, r.Code))
	}
	return symbolOutcome{state, strings.Join(words, ", ")}
}

// refusal is a server's answer to a file that it refuses.
func refusal(response *http.Response, text []byte) symbolOutcome {
	var problem struct{ Code, Detail, Title string }
	if err := json.Unmarshal(text, &problem); err != nil || problem.Code == "" {
		return symbolOutcome{"failed", "the server answers " + response.Status + location(response)}
	}
	state := "refused"
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusRequestTimeout {
		state = "failed"
	}
	if problem.Detail == "" {
		problem.Detail = problem.Title
	}
	return symbolOutcome{state, problem.Code + ": " + problem.Detail}
}

// location says where a server sends its clients.
func location(response *http.Response) string {
	if to := response.Header.Get("Location"); to != "" {
		return " and points to " + to + "; pass that server as --url"
	}
	return ""
}
