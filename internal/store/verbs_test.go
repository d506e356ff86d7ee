package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verbs are how names of methods begin; the package comment says what each means.
var verbs = regexp.MustCompile(`^(Find|List|Create|Update|Delete)([A-Z]|$)`)

// domainVerbs are the methods that none of the five verbs describes.
var domainVerbs = []string{
	"Open", "Migrate", "MigrateTo", "LockBlobs", "CheckSchema", "View", "Read", "Subscribe", // the database itself
	"DispatchJobs", "DispatchAllJobs", "ResetDispatch", "ClaimJob", "ClaimNext", "RenewLease", "ReleaseJob", "ReleaseForOutage", "FailJob",
	"ReapJobs",
	"RetryRun", "RetryInternal", "RetryFailures", "CancelRun", "CompleteRun", "BeginSymbolSearch",
	"LockUpload", "Advance", "Complete", "Release", // a locked upload
	"ExpireEvidence", "ClaimRound", "DeleteRestored", "DumpTables", "LoadTables", "CheckTarget", "TryWrite", "ExportTombstones", "MergeSignature", "RevokeToken", "UseLink", "TryLogIn", "CompleteLogIn", "HasUsers",
	"Search", "Compare", "CountOpenLeaks", "CountRunLeaks", "ReserveTraffic", "ReleaseTraffic", "CountStuckJobs", "PreviewTriage", "PreviewPolicy",
}

// Functions that reach the database are named by five verbs: Find returns one thing, List a slice or a page of them.
func TestVerbs(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (file == "internal" || file == "storetest"):
			return filepath.SkipDir
		case filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !takesContext(f) {
				continue
			}
			name, verb := f.Name.Name, verbs.FindStringSubmatch(f.Name.Name)
			seen[name] = true
			switch {
			case slices.Contains(domainVerbs, name):
			case verb == nil:
				t.Errorf("%s: the name of %s begins with none of the five verbs", file, name)
			case verb[1] == "Find" && isList(f):
				t.Errorf("%s: %s returns several things: List says so", file, name)
			case verb[1] == "List" && !isList(f):
				t.Errorf("%s: %s returns one thing: Find says so", file, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range domainVerbs {
		if !seen[name] {
			t.Errorf("%s is in the list of domain verbs, and no function has this name", name)
		}
	}
	if len(seen) < 100 {
		t.Errorf("%d functions were looked at", len(seen))
	}
}

func takesContext(f *ast.FuncDecl) bool {
	params := f.Type.Params.List
	if len(params) == 0 {
		return false
	}
	s, ok := params[0].Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Context"
}

// isList reports whether a function returns a slice, a map or a page first.
func isList(f *ast.FuncDecl) bool {
	switch first := f.Type.Results.List[0].Type.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	case *ast.StarExpr:
		name, ok := first.X.(*ast.Ident)
		return ok && strings.HasSuffix(name.Name, "Page")
	}
	return false
}
