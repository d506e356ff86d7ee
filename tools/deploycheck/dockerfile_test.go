package deploycheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func TestDockerfile(t *testing.T) {
	for _, problem := range problems(t, read(t, "Dockerfile")) {
		t.Error(problem)
	}
}

// A check that cannot fail checks nothing.
func TestDockerfileMistakesAreFound(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no instruction", "EXPOSE 8080", "EXPOSES 8080", "unknown instruction"},
		{"unknown stage", "--from=build", "--from=builder", "no stage"},
		{"another folder", "--from=build /out/downloads", "--from=build /out/clients", "is not what the build writes"},
		{"a platform less", "windows-386 ", "", "clients for"},
		{"the client as root", "COPY LICENSE /LICENSE\nUSER 65532:65532\nENTRYPOINT", "COPY LICENSE /LICENSE\nENTRYPOINT",
			"the client runs as"},
		{"another file", "-o /out/heapdrift", "-o /out/server", "is not what the build writes"},
		{"cgo", "CGO_ENABLED=0 ", "", "not static"},
		{"root", "USER 65532:65532", "USER root", "runs as"},
		{"root by number", "USER 65532:65532", "USER 0:0", "runs as"},
		{"nobody said", "USER 65532:65532\n", "", "runs as"},
		{"any version", "static-debian12:nonroot", "static-debian12:latest", "may be any version"},
		{"no version", "golang:1.26-bookworm", "golang", "has no tag"},
		{"another Go", "golang:1.26-bookworm", "golang:1.25-bookworm", "go.mod says"},
		{"one stage", "FROM gcr.io/distroless/static-debian12:nonroot\n", "", "one stage"},
		{"no health check", `CMD ["/heapdrift", "health"]`, "NONE", "health"},
		{"a shell", `ENTRYPOINT ["/heapdrift"]`, "ENTRYPOINT /heapdrift", "ENTRYPOINT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := strings.Join(problems(t, replaced(t, "Dockerfile", tt.old, tt.new)), "\n")
			if !strings.Contains(found, tt.want) {
				t.Errorf("found %q, want something about %q", found, tt.want)
			}
		})
	}
}

var (
	goVersion   = regexp.MustCompile(`(?m)^go (\d+\.\d+)`)
	buildOutput = regexp.MustCompile(`CGO_ENABLED=0 go build .*-o (\S+) \./cmd/heapdrift`)
	clientLoop  = regexp.MustCompile(`for platform in ([^;]+); do .*-o /out/downloads/\$platform/\$file \./cmd/heapdrift`)
	plainUser   = regexp.MustCompile(`^[1-9]\d*(:[1-9]\d*)?$`)
)

// problems lists what is wrong with a Dockerfile of ours: it builds a static binary in one stage, with the Go version
// of go.mod, and runs it in another as a user other than root.
func problems(t *testing.T, text string) []string {
	t.Helper()
	tree, err := parser.Parse(strings.NewReader(text))
	if err != nil {
		return []string{err.Error()}
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }

	last := stages[len(stages)-1].BaseName
	isStage := func(s instructions.Stage) bool { return s.Name == last }
	if strings.HasPrefix(last, "golang:") || slices.ContainsFunc(stages, isStage) {
		report("one stage: compiler and sources would be shipped")
	}
	binary, clients, names := "", "", map[string]bool{}
	for _, stage := range stages {
		if err := pinned(stage.BaseName); err != nil && !names[stage.BaseName] {
			report("%v", err)
		}
		if want := goVersion.FindStringSubmatch(read(t, "go.mod"))[1]; strings.HasPrefix(stage.BaseName, "golang:") &&
			!regexp.MustCompile(`^golang:`+regexp.QuoteMeta(want)+`(\D|$)`).MatchString(stage.BaseName) {
			report("stage %s compiles in %s, go.mod says %s", stage.Name, stage.BaseName, want)
		}
		for _, command := range stage.Commands {
			switch c := command.(type) {
			case *instructions.RunCommand:
				line := strings.Join(c.CmdLine, " ")
				if m := clientLoop.FindStringSubmatch(line); m != nil {
					clients = m[1]
				} else if m := buildOutput.FindStringSubmatch(line); m != nil {
					binary = m[1]
				}
			case *instructions.CopyCommand:
				if c.From == "" {
					continue
				}
				if !names[c.From] {
					report("no stage %q to copy from", c.From)
				}
				isClients := clients != "" && len(c.SourcePaths) == 1 && c.SourcePaths[0] == "/out/downloads"
				if !isClients && (binary == "" || len(c.SourcePaths) != 1 || c.SourcePaths[0] != binary) {
					report("%q is not what the build writes (%q)", c.SourcePaths, binary)
				}
			}
		}
		names[stage.Name] = true
	}
	if want := strings.Join(clientPlatforms(t), " "); clients != want {
		report("clients for %q, want %q", clients, want)
	}
	if binary == "" {
		report("not static: no RUN matches %s", buildOutput)
	}

	for _, stage := range stages {
		if stage.Name == "client" && !slices.ContainsFunc(stage.Commands, func(command instructions.Command) bool {
			c, ok := command.(*instructions.UserCommand)
			return ok && plainUser.MatchString(c.User)
		}) {
			report("the client runs as root")
		}
	}
	user, entrypoint, cmd, exposed, checked := "root", "", "", "", ""
	for _, command := range stages[len(stages)-1].Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			entrypoint = fmt.Sprintf("%q %t", c.CmdLine, c.PrependShell)
		case *instructions.CmdCommand:
			cmd = fmt.Sprintf("%q %t", c.CmdLine, c.PrependShell)
		case *instructions.ExposeCommand:
			exposed = strings.Join(c.Ports, " ")
		case *instructions.HealthCheckCommand:
			checked = fmt.Sprintf("%q", c.Health.Test)
		}
	}
	if !plainUser.MatchString(user) {
		report("runs as %q, want a number other than 0", user)
	}
	for what, pair := range map[string][2]string{
		"ENTRYPOINT":  {entrypoint, `["/heapdrift"] false`},
		"CMD":         {cmd, `["serve"] false`},
		"EXPOSE":      {exposed, "8080"},
		"HEALTHCHECK": {checked, `["CMD" "/heapdrift" "health"]`},
	} {
		if pair[0] != pair[1] {
			report("%s is %s, want %s", what, pair[0], pair[1])
		}
	}
	return found
}

// clientPlatforms are those of build.Clients, in order.
func clientPlatforms(t *testing.T) []string {
	t.Helper()
	text := read(t, "internal/build/build.go")
	var list []string
	for _, m := range regexp.MustCompile(`"(darwin|linux|windows)/(\w+)"`).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1]+"-"+m[2])
	}
	slices.Sort(list)
	return list
}
