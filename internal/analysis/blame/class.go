package blame

import (
	"hash/maphash"
	"strconv"
	"strings"
)

// Name is the frame's normalised name, as signatures have it.
func (c *Class) Name() string {
	if !c.Unnamed {
		return c.name
	}
	return string(c.appendName(nil))
}

// label is the name for people: of a frame without a function the module and the offset in it, or the address.
func (c *Class) label() string {
	if !c.Unnamed {
		return escapeTitle(c.name)
	}
	module, _ := strings.CutSuffix(c.name, UnnamedFrame)
	module = strings.TrimSuffix(module, "!")
	switch {
	case module != "":
		return escapeTitle(module) + "+0x" + strconv.FormatUint(c.offset, 16)
	case c.offset != 0:
		return "0x" + strconv.FormatUint(c.offset, 16)
	}
	return "unknown address"
}

func (c *Class) appendName(b []byte) []byte {
	b = append(b, c.name...)
	if c.Unnamed && (c.behind != "" || c.offset != 0) { // outside every module 0 is no address
		b = strconv.AppendUint(append(b, "0x"...), c.offset, 16)
	}
	return append(b, c.behind...)
}

// isNamedAs reports whether two frames have one name.
func (c *Class) isNamedAs(other *Class) bool {
	if c.Unnamed && c.offset != other.offset {
		return false
	}
	return c.Decision == other.Decision ||
		c.hash == other.hash && c.name == other.name && c.behind == other.behind && c.Unnamed == other.Unnamed
}

var nameSeed = maphash.MakeSeed()

// Class classes a frame by the rules; the result holds for every stack that the frame is in.
func (r *Rules) Class(f *Frame) Class { return Class{r.decide(f), f.Offset} }

// decide is what all frames that differ in their offsets alone have in common.
func (r *Rules) decide(f *Frame) *Decision {
	var name moduleName
	if f.Module != nil {
		name = newModuleName(f.Module.Name)
	}
	function := ""
	if strings.Trim(f.Function, "?") != "" { // UMDH writes ??? for what it does not know
		function = NormalizeFunction(f.Function)
	}
	from := origin(f, &name)
	s := subject{frame: f, module: &name, function: function, origin: from.Layer}
	c := &Decision{attributes: r.attributesOf(&s)}
	c.frames, c.stackRules = r.framesOf(&s)
	c.name, c.behind, c.Unnamed = frameName(f, function)
	c.hash = maphash.String(nameSeed, c.name) ^ uint64(len(c.behind))
	if !c.Unnamed {
		c.scope = lambdaScope(c.name)
	}

	rule := r.layerOf(&s)
	if rule != nil && rule.layer.isOrigin() {
		from = Mark{rule.layer, rule.id}
	}
	c.Inner, c.Between, c.Outer = from, from, from
	if rule == nil || !rule.layer.isOrigin() || rule.function.pattern == "" { // whoever names a function knows better
		core(c, f, &name, function)
	}
	if rule != nil {
		rule.mark(c)
	}
	return c
}

// core marks what the names of functions and modules tell without the project's rules.
func core(c *Decision, f *Frame, name *moduleName, function string) {
	switch {
	case f.Kernel:
		c.Inner = Mark{LayerAllocator, "alloc/kernel"}
		return
	case toolModules.match(name):
		c.Inner = Mark{LayerTool, "tool/module"}
		c.Between = c.Inner
		return
	case function == "":
		if f.Module == nil {
			return
		}
		if unnamedAllocators.match(name) {
			c.Inner = Mark{LayerAllocator, "alloc/unnamed"}
		}
		if unnamedBases.match(name) {
			c.Outer = Mark{LayerBase, "base/unnamed"}
		}
	}
	if wow64Modules.match(name) {
		c.Outer = Mark{LayerBase, "base/wow64"}
	}
	if allocatorModules.match(name) {
		c.Inner = Mark{LayerAllocator, "alloc/module"}
	}
	if function == "" {
		return
	}
	if mark := plumbing.find(function); mark != nil && (mark.Rule != plumbingCRT || c.Between.Layer != LayerApp || f.File == "") { // the CRT's sources are the system's
		c.Inner, c.Between = *mark, *mark
	}
	if mark := allocators.find(function); mark != nil {
		c.Inner = *mark
	}
	if mark := tools.find(function); mark != nil {
		c.Inner, c.Between = *mark, *mark
	}
	if mark := bases.find(function); mark != nil {
		c.Outer = *mark
		if mark.Rule == "base/crt" && c.Between.Layer.isOrigin() { // a DLL that is loaded on the way: the run time's, with a source line or without
			c.Between = Mark{LayerSystem, mark.Rule}
		}
	}
}

// UnnamedFrame is how the name of a frame in no module begins, in place of a function. The address follows, which the
// next start of the process changes.
const UnnamedFrame = "<unknown>+"

// frameName is the name that signatures know a frame by: of one without a function in two parts, between which its
// offset stands.
func frameName(f *Frame, function string) (name, behind string, isUnnamed bool) {
	if f.Module == nil {
		if function != "" {
			return function, "", false
		}
		return UnnamedFrame, "", true
	}
	module := NormalizeModule(f.Module.Name)
	if function == "" { // the offset means something in this build only
		return module + "!" + UnnamedFrame, "@" + f.Module.Build, true
	}
	if strings.HasPrefix(function, lambdaName) && f.File != "" { // no function's scope tells it from the other lambdas
		return module + "!" + baseName(f.File) + "::" + function, "", false
	}
	return module + "!" + function, "", false
}

// lambdaScope is the name of the function that a lambda is written in; "" for what is no lambda, or none of a function.
// The lambda's own operator() counts as the lambda.
func lambdaScope(name string) string {
	const scoped = "::" + lambdaName
	i := strings.LastIndex(name, scoped)
	if i <= 0 {
		return ""
	}
	switch name[i+len(scoped):] {
	case "", "::operator()", "::<lambda_invoker>", "::__invoke":
		return name[:i]
	}
	return ""
}

func (l Layer) isOrigin() bool { return l == LayerSystem || l == LayerThirdParty || l == LayerApp }

// At is the class of a frame without a function name, at an offset in bytes in its module, that has the decision d.
func (d *Decision) At(offset uint64) Class { return Class{d, offset} }
