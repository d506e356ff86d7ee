package analysis

import (
	"bytes"
	"fmt"
	"runtime"

	"heapdrift/ingest/crew"
)

// rowsOf takes a list, or null. Its rows are decoded on all cores while those behind them are read, and added in their
// order.
func rowsOf[T any](j *jsonText, decode func(*rowText, []byte, *T) error, add func(*T) error) error {
	switch c, err := j.peek(); {
	case err != nil:
		return err
	case c != '[':
		text, err := j.value()
		if err == nil && !bytes.Equal(text, []byte("null")) {
			err = fmt.Errorf("%.20s where a list belongs", text)
		}
		return err
	}
	j.at++
	read, decoded := make([]rowsPart[T], runtime.GOMAXPROCS(0)), make([]rowsPart[T], runtime.GOMAXPROCS(0))
	taken, added, more := 0, 0, true
	var failed error // to take a row
	for more || len(decoded[0].ends) > 0 {
		var all crew.Crew
		for p := range decoded {
			all.Go(func() { decoded[p].decode(decode) })
		}
		for p := range read {
			read[p].text, read[p].ends = read[p].text[:0], read[p].ends[:0]
			for more && len(read[p].ends) < rowsAtOnce {
				if more, failed = j.another(taken, ']'); more && failed == nil {
					failed = read[p].take(j)
				}
				if failed != nil {
					more = false
				}
				if more {
					taken++
				}
			}
		}
		all.Wait()
		for p := range decoded {
			n, err := decoded[p].addTo(add)
			if added += n; err != nil {
				return fmt.Errorf("row %d: %w", added, err)
			}
		}
		read, decoded = decoded, read
	}
	if failed != nil {
		return fmt.Errorf("row %d: %w", taken, failed)
	}
	return nil
}

// A rowsPart is what one core decodes of a list.
type rowsPart[T any] struct {
	text []byte
	ends []int // of each row in text
	rows []T   // up to the one that could not be decoded
	err  error // of the last of rows
	row  rowText
}

// addTo adds the rows, and returns how many were added.
func (p *rowsPart[T]) addTo(add func(*T) error) (added int, err error) {
	for i := range p.ends {
		err := p.err
		if err == nil || i < len(p.rows)-1 {
			err = add(&p.rows[i])
		}
		if err != nil {
			return i, err
		}
	}
	return len(p.ends), nil
}

// take takes a row.
func (p *rowsPart[T]) take(j *jsonText) error {
	row, err := j.value()
	if err == nil {
		p.text = append(p.text, row...)
		p.ends = append(p.ends, len(p.text))
	}
	return err
}

func (p *rowsPart[T]) decode(decode func(*rowText, []byte, *T) error) {
	p.rows, p.err = p.rows[:0], nil
	from := 0
	for _, end := range p.ends {
		var row T
		p.err = decode(&p.row, p.text[from:end], &row)
		p.rows = append(p.rows, row)
		if p.err != nil {
			return
		}
		from = end
	}
}
