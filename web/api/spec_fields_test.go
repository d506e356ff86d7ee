package api_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"heapdrift/web/api"
)

// TestSpecFields refuses a field without a description: people write clients by it. A field that refers to a shared
// schema needs one, too: the schema cannot say which of them this is.
func TestSpecFields(t *testing.T) {
	for _, field := range undescribed(t, api.OpenAPISpec) {
		t.Errorf("openapi.yaml: the field %s has no description: add what it is, its unit, and when it is absent", field)
	}
}

func TestUndescribedFields(t *testing.T) {
	for text, want := range map[string]string{
		"{properties: {a: {type: string}}}":                                                  "a",
		"{properties: {a: {type: string, description: Name.}}}":                              "",
		"{properties: {a: {type: string, description: ''}}}":                                 "a",
		"{properties: {a: {$ref: '#/x'}}}":                                                   "a",
		"{properties: {a: {description: Part., properties: {b: {type: string}}}}}":           "b",
		"{properties: {a: {description: List., items: {properties: {b: {type: string}}}}}}":  "b",
		"{properties: {properties: {description: Map., properties: {b: {type: string}}}}}":   "b",
		"{properties: {description: {type: string}}}":                                        "description",
		"{properties: {a: &x {type: string, description: Name.}}, y: {properties: {b: *x}}}": "",
	} {
		got := ""
		for _, field := range undescribed(t, []byte(text)) {
			got += field
		}
		if got != want {
			t.Errorf("%s: fields without a description: %q, want %q", text, got, want)
		}
	}
}

// undescribed lists the fields of schemas that have no description.
func undescribed(t *testing.T, text []byte) []string {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	return undescribedBelow(&root, false)
}

// undescribedBelow walks a node. names says that its keys are names of fields: one may be called "properties".
func undescribedBelow(node *yaml.Node, names bool) (list []string) {
	for i, child := range node.Content {
		key := ""
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue // a key
			}
			key = node.Content[i-1].Value
		}
		if names && !isDescribed(child) {
			list = append(list, key)
		}
		list = append(list, undescribedBelow(child, !names && key == "properties" && child.Kind == yaml.MappingNode)...)
	}
	return list
}

func isDescribed(schema *yaml.Node) bool {
	if schema.Kind == yaml.AliasNode {
		schema = schema.Alias
	}
	for i := 0; i+1 < len(schema.Content); i += 2 {
		if schema.Content[i].Value == "description" {
			return schema.Content[i+1].Value != ""
		}
	}
	return false
}
