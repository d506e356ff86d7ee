package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// readOpenAPI finds the texts of a description of an API: summaries and descriptions. Names, enums, examples and
// patterns are code. Texts are Markdown (OpenAPI 3.0.3, "Rich Text Formatting"), so a span of code counts as one word.
func readOpenAPI(name string, content []byte) ([]text, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(content, &root); err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	return openAPITexts(name, &root)
}

// openAPIRoles are the keys whose values are texts.
var openAPIRoles = map[string]role{"summary": summary, "description": description}

// openAPITexts collects the texts below a node. An alias repeats texts that its anchor has already given.
func openAPITexts(name string, node *yaml.Node) ([]text, error) {
	var list []text
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue // a key
			}
			// A field may be called "description": its value is a schema, not a text.
			r, ok := openAPIRoles[node.Content[i-1].Value]
			if ok && child.Kind == yaml.ScalarNode {
				texts, err := describedTexts(name, child, r)
				if err != nil {
					return nil, err
				}
				list = append(list, texts...)
				continue
			}
		}
		texts, err := openAPITexts(name, child)
		if err != nil {
			return nil, err
		}
		list = append(list, texts...)
	}
	return list, nil
}

// describedTexts are the paragraphs of one text.
func describedTexts(name string, value *yaml.Node, r role) ([]text, error) {
	list, err := readMarkdown(name, []byte(value.Value))
	if err != nil {
		return nil, err
	}
	first := value.Line
	if value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		first++ // below the line of "|"
	}
	for i := range list {
		list[i].line += first - 1
		if list[i].role == prose {
			list[i].role = r
		}
	}
	if strings.TrimSpace(value.Value) == "" {
		list = append(list, text{name, value.Line, r, ""})
	}
	return list, nil
}

// Summaries. Documentation lists them as the names of actions: "Delete a run". Their verbs are few, and a list of them
// tells them from nouns ("Report of a run", "State of a run").
var summaryVerbs = wordSet(`Add Assign Cancel Change Check Choose Comment Compare Complete Correct Create Delete
	Download Get Import List Merge Pin Preview Remove Rename Replace Retry Revoke Search Send Set Start Upload`)

// notImperative says why a summary is no action; "" where it is one.
func notImperative(words string) string {
	verb, object, _ := strings.Cut(words, " ")
	switch {
	case !summaryVerbs[verb]:
		return "begin with a verb of summaryVerbs (openapi.go): \"Delete a run\""
	case object == "":
		return "name the object: \"Delete a run\""
	case strings.HasSuffix(words, "."):
		return "a summary is a title: leave out the full stop"
	}
	return ""
}

// Descriptions. Readers see one beside a field's name in one tool, and alone in another. So each is a sentence, or a
// noun with its own article or none ("Size of the file, in bytes."). One that begins in the middle ("of the upload",
// "that allocated", "whether it leaks") hangs on the name.
var (
	fragmentBegins = wordSet(`as at because before but by from how in into of on or so than that to until what where
		whether which who whom whose why with`)
	completeEnd = regexp.MustCompile(`[.:]$`)
)

// incomplete says why a description cannot be read alone; "" where it can.
func incomplete(words string) string {
	first, _, _ := strings.Cut(words, " ")
	start, _ := utf8.DecodeRuneInString(words)
	switch {
	case words == "":
		return "say what it is, or leave the description out"
	case fragmentBegins[strings.ToLower(first)]:
		return fmt.Sprintf("it begins with %q: name the thing first, as in \"Size of the file, in bytes.\"", first)
	case unicode.IsLower(start) && !strings.HasPrefix(words, "tus "): // the protocol's name
		return "begin with a capital letter"
	case !completeEnd.MatchString(words):
		return "end with a full stop"
	}
	return ""
}
