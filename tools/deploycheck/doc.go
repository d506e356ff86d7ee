// Package deploycheck holds tests of what is shipped beside the code: docker-compose.yml, the Dockerfile and its
// .dockerignore, the scripts vendored into the pages, the CI workflow. They read the files with the parsers of Compose
// and BuildKit and need no container engine; `make test` runs them.
package deploycheck
