// Package docs has no code: its tests hold the documents against the repository. They check that every path, link and
// declaration named there exists, and that the picture in docs/architecture.md agrees with the imports.
package docs
