package deploycheck

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// load reads a compose file as `docker compose config` does, with nothing but env around it.
func load(t *testing.T, text string, env types.Mapping) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: "docker-compose.yml", Content: []byte(text)}},
		Environment: env,
	}, func(o *loader.Options) { o.SetProjectName("heapdrift", true) })
}

func loadOurs(t *testing.T, env types.Mapping) *types.Project {
	t.Helper()
	project, err := load(t, read(t, "docker-compose.yml"), env)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposeServices(t *testing.T) {
	project := loadOurs(t, nil)
	want := []string{"migrate", "postgres", "redis", "versitygw", "web", "worker"}
	if got := slices.Sorted(maps.Keys(project.Services)); !slices.Equal(got, want) {
		t.Errorf("services %v, want %v", got, want)
	}
	for service, command := range map[string][]string{"web": {"serve"}, "worker": {"work"}, "migrate": {"migrate"}} {
		if got := project.Services[service].Command; !slices.Equal(got, command) {
			t.Errorf("%s runs %q, want %q", service, got, command)
		}
	}
	if worker := project.Services["worker"]; worker.GetScale() != 2 || worker.Deploy == nil {
		t.Errorf("%d workers, want 2 by deploy.replicas", worker.GetScale())
	}
	for name, service := range project.Services {
		if err := pinned(service.Image); service.Build == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(service.Ports) > 0 != (name == "web") {
			t.Errorf("%s publishes %v; web and only web is reached from outside", name, service.Ports)
		}
		if service.ContainerName != "" {
			t.Errorf("%s has a container_name, which cannot be scaled or run twice", name)
		}
	}
}

// Redis holds job ids and leases: these survive a restart, and Redis never evicts one when memory is short.
func TestComposeRedisKeepsJobs(t *testing.T) {
	command := loadOurs(t, nil).Services["redis"].Command
	for flag, value := range map[string]string{"--appendonly": "yes", "--maxmemory-policy": "noeviction"} {
		i := slices.Index(command, flag)
		if i < 0 || i+1 >= len(command) || command[i+1] != value {
			t.Errorf("redis runs %q, want %s %s in it", command, flag, value)
		}
	}
}

// Data that outlives a container lies on a named volume, in the folder where the image keeps its data.
func TestComposeVolumes(t *testing.T) {
	project := loadOurs(t, nil)
	for name, target := range map[string]string{
		"postgres": "/var/lib/postgresql/data", "redis": "/data", "versitygw": "/data",
	} {
		volumes := project.Services[name].Volumes
		if len(volumes) != 1 || volumes[0].Type != types.VolumeTypeVolume || volumes[0].Target != target {
			t.Errorf("%s mounts %v, want one named volume at %s", name, volumes, target)
		}
	}
	if gw := project.Services["versitygw"]; !slices.Equal(gw.Command[len(gw.Command)-2:], []string{"posix", "/data"}) {
		t.Errorf("versitygw runs %q, want the posix backend on its volume last", gw.Command)
	}
}

func TestComposeOrder(t *testing.T) {
	project := loadOurs(t, nil)
	whole := map[string]string{
		"postgres":  types.ServiceConditionHealthy,
		"redis":     types.ServiceConditionHealthy,
		"versitygw": types.ServiceConditionHealthy,
		"migrate":   types.ServiceConditionCompletedSuccessfully,
	}
	for name, want := range map[string]map[string]string{
		"web":       whole,
		"worker":    whole,
		"migrate":   {"postgres": types.ServiceConditionHealthy},
		"postgres":  {},
		"redis":     {},
		"versitygw": {},
	} {
		got := map[string]string{}
		for on, dependency := range project.Services[name].DependsOn {
			got[on] = dependency.Condition
			check := project.Services[on].HealthCheck
			checked := check != nil && !check.Disable && len(check.Test) > 0
			if dependency.Condition == types.ServiceConditionHealthy && !checked {
				t.Errorf("%s waits for %s to be healthy, which nobody checks", name, on)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s waits for %v, want %v", name, got, want)
		}
	}
	// The image checks the web server, which migrate does not run. A worker answers on the address of its metrics.
	if check := project.Services["migrate"].HealthCheck; check == nil || !check.Disable {
		t.Error("migrate does not turn the image's health check off: it would never be healthy")
	}
	worker := project.Services["worker"]
	if listen := worker.Environment["HEAPDRIFT_METRICS_LISTEN"]; worker.HealthCheck != nil || listen == nil || *listen == "" {
		t.Error("the image's health check finds no worker")
	}
}

// setting is a setting in the configuration of the program.
var setting = regexp.MustCompile("`env:\"(HEAPDRIFT_[A-Z_]+)\"(?: envDefault:\"([^\"]*)\")?")

// notPassed are settings that a container does not take, and why.
var notPassed = map[string]string{
	"HEAPDRIFT_STATE_DIR": "of heapdrift up",
	"HEAPDRIFT_DOWNLOADS": "the image has them",
	"HEAPDRIFT_URL":       "of clients", "HEAPDRIFT_PROJECT": "of clients", "HEAPDRIFT_TOKEN": "of clients",
}

// fixed are settings that agree with the other services.
var fixed = []string{"HEAPDRIFT_DATABASE_URL", "HEAPDRIFT_REDIS_URL", "HEAPDRIFT_BLOB_URL", "HEAPDRIFT_LISTEN", "HEAPDRIFT_SYMBOL_CACHE"}

// Every setting of the program reaches servers and workers as the user has set it, and has its default elsewhere.
func TestComposePassesSettings(t *testing.T) {
	settings := setting.FindAllStringSubmatch(read(t, "cmd/heapdrift/config.go"), -1)
	if len(settings) < 25 {
		t.Fatalf("%d settings are found", len(settings))
	}
	env := types.Mapping{}
	for _, s := range settings {
		env[s[1]] = "set-" + s[1]
	}
	plain, set := loadOurs(t, nil), loadOurs(t, env)
	for _, service := range []string{"web", "worker"} {
		for _, s := range settings {
			name, standard := s[1], s[2]
			has := plain.Services[service].Environment[name]
			switch {
			case notPassed[name] != "":
				if has != nil {
					t.Errorf("%s has %s, which is %s", service, name, notPassed[name])
				}
			case has == nil:
				t.Errorf("%s does not get %s", service, name)
			case slices.Contains(fixed, name):
			case *set.Services[service].Environment[name] != env[name]:
				t.Errorf("%s does not take %s from the environment", service, name)
			case standard != "" && *has != standard:
				t.Errorf("%s has %s = %q where nobody sets it, want %q", service, name, *has, standard)
			}
		}
	}
}

// Servers and workers have no rights that they do not need, and room for what they write.
func TestComposeHardens(t *testing.T) {
	project := loadOurs(t, nil)
	for _, name := range []string{"web", "worker", "migrate"} {
		s := project.Services[name]
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || s.MemLimit <= 0 {
			t.Errorf("%s: read-only %t, drops %v, %v, %d bytes", name, s.ReadOnly, s.CapDrop, s.SecurityOpt, s.MemLimit)
		}
		var targets []string
		for _, v := range s.Volumes {
			targets = append(targets, v.Target)
		}
		if !slices.Equal(targets, []string{"/tmp", "/home/nonroot"}) || !strings.HasPrefix(*s.Environment["HEAPDRIFT_SYMBOL_CACHE"], "/home/nonroot/") {
			t.Errorf("%s writes to %v", name, targets)
		}
	}
}

// Addresses and passwords on both sides agree, whatever the user sets.
func TestComposeAddresses(t *testing.T) {
	for _, env := range []types.Mapping{
		nil,
		{"POSTGRES_PASSWORD": "p1", "HEAPDRIFT_S3_KEY": "k1", "HEAPDRIFT_S3_SECRET": "s1", "HEAPDRIFT_PORT": "9000"},
	} {
		t.Run(fmt.Sprint(len(env)), func(t *testing.T) {
			project := loadOurs(t, env)
			postgres, gateway := project.Services["postgres"].Environment, project.Services["versitygw"].Environment
			for _, name := range []string{"web", "worker", "migrate"} {
				get := func(key string) string {
					if v := project.Services[name].Environment[key]; v != nil {
						return *v
					}
					t.Errorf("%s has no %s", name, key)
					return ""
				}
				database := parseURL(t, get("HEAPDRIFT_DATABASE_URL"))
				redis := parseURL(t, get("HEAPDRIFT_REDIS_URL"))
				blobs := parseURL(t, get("HEAPDRIFT_BLOB_URL"))
				password, _ := database.User.Password()
				for what, pair := range map[string][2]string{
					"listening address":      {get("HEAPDRIFT_LISTEN"), ":8080"},
					"database scheme":        {database.Scheme, "postgres"},
					"database address":       {database.Host, "postgres:5432"},
					"database user":          {database.User.Username(), *postgres["POSTGRES_USER"]},
					"database password":      {password, *postgres["POSTGRES_PASSWORD"]},
					"database name":          {database.Path, "/" + *postgres["POSTGRES_DB"]},
					"redis address":          {redis.Scheme + "://" + redis.Host, "redis://redis:6379"},
					"bucket":                 {blobs.Scheme + "://" + blobs.Host, "s3://heapdrift"},
					"object store's address": {blobs.Query().Get("endpoint"), "versitygw:7070"},
					"object store's TLS":     {blobs.Query().Get("insecure"), "1"},
					"object store's key":     {get("AWS_ACCESS_KEY_ID"), *gateway["ROOT_ACCESS_KEY"]},
					"object store's secret":  {get("AWS_SECRET_ACCESS_KEY"), *gateway["ROOT_SECRET_KEY"]},
				} {
					if pair[0] != pair[1] {
						t.Errorf("%s: %s is %q, want %q", name, what, pair[0], pair[1])
					}
				}
				if env != nil && (password != "p1" || get("AWS_ACCESS_KEY_ID") != "k1" || get("AWS_SECRET_ACCESS_KEY") != "s1") {
					t.Errorf("%s does not take its passwords from the environment", name)
				}
			}
			published, want := project.Services["web"].Ports[0], "8080"
			if env != nil {
				want = env["HEAPDRIFT_PORT"]
			}
			if published.Published != want || published.Target != 8080 {
				t.Errorf("web publishes %s to %d, want %s to 8080", published.Published, published.Target, want)
			}
		})
	}
}

// A user's cloud keys that are set in the environment do not get into a container.
func TestComposeLeavesCloudKeysAlone(t *testing.T) {
	project := loadOurs(t, types.Mapping{"AWS_ACCESS_KEY_ID": "theirs", "AWS_SECRET_ACCESS_KEY": "theirs"})
	for name, service := range project.Services {
		for key, value := range service.Environment {
			if value == nil || *value == "theirs" {
				t.Errorf("%s takes %s from the caller", name, key)
			}
		}
	}
}

// The checks above are only as good as what the parser refuses.
func TestComposeMistakesAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown condition", "condition: service_healthy", "condition: service_fine", "condition"},
		{"unknown key", "stop_grace_period: 2m", "stop_grace: 2m", "stop_grace"},
		{"unknown service", "migrate: {condition: ", "migrates: {condition: ", "migrates"},
		{"unknown volume", "volumes: [blobs:/data]", "volumes: [blob:/data]", "blob"},
		{"not a duration", "interval: 5s", "interval: soon", "soon"},
		{"not YAML", "services:\n", "services\n", "yaml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, replaced(t, "docker-compose.yml", tt.old, tt.new), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one about %q", err, tt.want)
			}
		})
	}
}

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
