package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// linePrefix has the lines of a file counted: a log with a line for each request.
const linePrefix = "lines:"

// maxCounter is how much of a file or an answer is searched for the counter, in bytes.
const maxCounter = 64 << 10

// counterTime is how long a URL may take to answer.
const counterTime = 10 * time.Second

// ParseCounter finds the first number of a text: digits, and more of them behind a point.
func ParseCounter(text []byte) (float64, error) {
	const digits = "0123456789"
	first := bytes.IndexAny(text, digits)
	if first < 0 {
		return 0, errors.New("holds no number")
	}
	text = text[first:]
	behind := bytes.TrimLeft(text, digits)
	if point, found := bytes.CutPrefix(behind, []byte(".")); found {
		if rest := bytes.TrimLeft(point, digits); len(rest) < len(point) {
			behind = rest
		}
	}
	return strconv.ParseFloat(string(text[:len(text)-len(behind)]), 64)
}

// readCounter reads how much work is done from a file, the lines of a file, or a URL.
func readCounter(ctx context.Context, from string) (float64, error) {
	if path, lines := strings.CutPrefix(from, linePrefix); lines {
		return countLines(ctx, path)
	}
	text, err := readStart(ctx, from)
	if err != nil {
		return 0, fmt.Errorf("counter %s: %w", from, err)
	}
	n, err := ParseCounter(text)
	if err != nil {
		return 0, fmt.Errorf("counter %s: %w", from, err)
	}
	return n, nil
}

// readStart reads the start of a file or of an answer.
func readStart(ctx context.Context, from string) ([]byte, error) {
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		file, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(file, maxCounter))
	}
	ctx, cancel := context.WithTimeout(ctx, counterTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, maxCounter))
}

// countLines counts the ends of lines of a file.
func countLines(ctx context.Context, path string) (float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("counter: %w", err)
	}
	defer file.Close()
	buffer, n := make([]byte, maxCounter), 0
	for ctx.Err() == nil {
		read, err := file.Read(buffer)
		n += bytes.Count(buffer[:read], []byte("\n"))
		if errors.Is(err, io.EOF) {
			return float64(n), nil
		}
		if err != nil {
			return 0, fmt.Errorf("counter: %w", err)
		}
	}
	return 0, context.Cause(ctx)
}
