package blame

import (
	"fmt"
	"slices"
	"strings"
)

// layerActions are the actions that give a layer; at most one stands in a rule.
var layerActions = map[string]Layer{
	"+app": LayerApp, "-app": LayerThirdParty, "system": LayerSystem, "third-party": LayerThirdParty,
	"alloc": LayerAllocator, "plumbing": LayerPlumbing, "base": LayerBase, "tool": LayerTool,
}

func parseRule(line int, tokens []string) (*rule, error) {
	r := &rule{line: line, id: ruleID(line)}
	fail := func(code, message string) (*rule, error) { return nil, &RuleError{line, code, message} }
	arrow := slices.Index(tokens, "->")
	switch {
	case arrow < 0:
		return fail(CodeNoArrow, `no "->" between conditions and actions; write for example: module:mylib* -> +app`)
	case arrow == 0:
		return fail(CodeNoCondition,
			`no condition before "->"; write module:, function:, path:, frame: or origin:, or function:* for every frame`)
	case arrow == len(tokens)-1:
		return fail(CodeNoAction,
			`no action after "->"; write +app, -app, system, third-party, alloc, plumbing, base, tool, owner=, known= or group=`)
	}
	for _, t := range tokens[:arrow] {
		if err := r.condition(t); err != nil {
			return nil, err
		}
	}
	if r.stack != nil && arrow > 1 {
		return fail(CodeBadStack, "stack: is about the whole stack; take out the other conditions")
	}
	for _, t := range tokens[arrow+1:] {
		if err := r.action(t); err != nil {
			return nil, err
		}
	}
	if r.isAnywhere() && r.layer != "" {
		return fail(CodeFrameLayer,
			"frame: or stack: matches the whole stack, so it allows only owner=, known= or group=; set layers with module:, function: or path:")
	}
	return r, nil
}

func (r *rule) condition(t string) *RuleError {
	key, value, ok := strings.Cut(t, ":")
	if !ok {
		return &RuleError{r.line, CodeUnknownCondition,
			fmt.Sprintf("%q is not a condition; write function:%s or module:%s, in quotes if it has spaces", t, t, t)}
	}
	if value == "" {
		return &RuleError{r.line, CodeEmptyValue, fmt.Sprintf("no pattern after %s:; write one, * for any text", key)}
	}
	var at *glob
	switch key {
	case "module":
		at = &r.module
	case "function":
		at = &r.function
	case "path":
		at = &r.path
	case "frame":
		at = &r.frame
	case "origin":
		return r.originCondition(value)
	case "stack":
		return r.stackCondition(value)
	default:
		return &RuleError{r.line, CodeUnknownCondition,
			fmt.Sprintf("no condition is called %q; write module:, function:, path:, frame:, stack: or origin:", key)}
	}
	if at.pattern != "" {
		return &RuleError{r.line, CodeTwice, fmt.Sprintf("%s: is there twice; write a rule for each", key)}
	}
	switch key {
	case "module":
		*at = newGlob(value, true)
	case "path":
		*at = newGlob(backslashes(value), true)
	case "frame":
		r.frame, r.frameFile = newGlob(value, false), newGlob(backslashes(value), true)
	default:
		*at = newGlob(value, false)
	}
	return nil
}

func (r *rule) originCondition(value string) *RuleError {
	if r.origin != "" {
		return &RuleError{r.line, CodeTwice, "origin: is there twice; write a rule for each"}
	}
	switch o := Layer(value); o {
	case LayerSystem, LayerThirdParty, LayerApp:
		r.origin = o
		return nil
	}
	return &RuleError{r.line, CodeUnknownOrigin,
		fmt.Sprintf("no origin is called %q; write origin:system, origin:third-party or origin:app", value)}
}

func (r *rule) stackCondition(value string) *RuleError {
	if r.stack != nil {
		return &RuleError{r.line, CodeTwice, "stack: is there twice; write a rule for each"}
	}
	pattern, reason := parseStackPattern(value)
	if reason != "" {
		return &RuleError{r.line, CodeBadStack, "stack: " + reason}
	}
	r.stack = pattern
	return nil
}

func (r *rule) action(t string) *RuleError {
	if layer, ok := layerActions[t]; ok {
		if r.layer != "" {
			return &RuleError{r.line, CodeTwice,
				fmt.Sprintf("%q after another layer: a rule gives one layer, and a frame takes the layer of the first rule that matches", t)}
		}
		r.layer = layer
		return nil
	}
	key, value, ok := strings.Cut(t, "=")
	var at *string
	switch key {
	case "owner":
		at = &r.owner
	case "known":
		at = &r.known
	case "group":
		at = &r.group
	}
	if !ok || at == nil {
		return &RuleError{r.line, CodeUnknownAction,
			fmt.Sprintf(`%q is not an action; write +app, -app, system, third-party, alloc, plumbing, base, tool, owner=NAME, known="why" or group="name"`, t)}
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return &RuleError{r.line, CodeEmptyValue,
			fmt.Sprintf("no text after %s=; write one, in quotes if it has spaces", key)}
	}
	if *at != "" {
		return &RuleError{r.line, CodeTwice, fmt.Sprintf("%s= is there twice; keep one", key)}
	}
	*at = value
	return nil
}
