# The server as one static file in an image that holds nothing else but certificates, time zones and a user.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# What "go run ./tools/build -stamp" prints: git is not in the image, and heapdrift version could not name the commit.
ARG STAMP=""
# Generated pages and vendored scripts are committed: neither templ nor node is needed here.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w $STAMP" -o /out/heapdrift ./cmd/heapdrift

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/heapdrift /heapdrift
COPY LICENSE /LICENSE
# By number, so that a cluster which insists on a user other than root can tell.
USER 65532:65532
ENV HEAPDRIFT_LISTEN=:8080
EXPOSE 8080
# Asks /healthz of the server in this container. A worker has none: docker-compose.yml turns the check off there.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/heapdrift", "health"]
ENTRYPOINT ["/heapdrift"]
CMD ["serve"]
