# Two images of one static file each, beside nothing but certificates, time zones and a user: the client with
# "docker build --target client .", and, without a target, the server with the clients that it gives away.

FROM golang:1.26-bookworm AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .

FROM source AS client-build
# What "go run ./tools/build -stamp" prints: git is not in the image, and heapdrift version could not name the commit.
ARG STAMP=""
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags client,nethttpomithttp2 -ldflags="-s -w $STAMP" -o /out/heapdrift ./cmd/heapdrift

FROM gcr.io/distroless/static-debian12:nonroot AS client
COPY --from=client-build /out/heapdrift /heapdrift
COPY LICENSE /LICENSE
USER 65532:65532
ENTRYPOINT ["/heapdrift"]

FROM source AS build
ARG STAMP=""
# Generated pages and vendored scripts are committed: neither templ nor node is needed here.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w $STAMP" -o /out/heapdrift ./cmd/heapdrift
# The clients that GET /download gives away, as "go run ./tools/build" writes them to dist/downloads.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    for platform in darwin-amd64 darwin-arm64 linux-amd64 linux-arm64 windows-386 windows-amd64 windows-arm64; do \
      case $platform in windows-*) file=heapdrift.exe ;; *) file=heapdrift ;; esac; \
      GOOS=${platform%-*} GOARCH=${platform#*-} CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags client,nethttpomithttp2 \
        -ldflags="-s -w $STAMP" -o /out/downloads/$platform/$file ./cmd/heapdrift || exit 1; \
    done && /out/heapdrift version | sed -n 's/^heapdrift //p' > /out/downloads/VERSION

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/heapdrift /heapdrift
COPY --from=build /out/downloads /downloads
COPY LICENSE /LICENSE
# By number, so that a cluster which insists on a user other than root can tell.
USER 65532:65532
ENV HEAPDRIFT_LISTEN=:8080
EXPOSE 8080
# Asks /healthz of the server in this container, or of the worker where HEAPDRIFT_METRICS_LISTEN is set.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/heapdrift", "health"]
ENTRYPOINT ["/heapdrift"]
CMD ["serve"]
