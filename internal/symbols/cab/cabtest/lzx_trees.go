package cabtest

import "slices"

// tokens writes the trees and the tokens.
func (w *lzxWriter) tokens(kind LZXKind, tokens []token) {
	mainCount, lenCount, lowCount := make([]int, len(w.mainLen)), make([]int, len(w.lenLen)), make([]int, 8)
	for _, t := range tokens {
		mainCount[t.main]++
		if t.length >= 0 {
			lenCount[t.length]++
		}
		if t.bits >= 3 {
			lowCount[t.extra&7]++
		}
	}
	mainLen, lenLen, lowLen := codeLengths(mainCount, 16), codeLengths(lenCount, 16), codeLengths(lowCount, 7)
	if kind == Aligned {
		if !slices.ContainsFunc(lowCount, func(n int) bool { return n > 0 }) {
			lowLen = []uint8{3, 3, 3, 3, 3, 3, 3, 3} // a tree that is not used must be complete as well
		}
		for _, n := range lowLen {
			w.bits.put(uint32(n), 3)
		}
	}
	w.lengths(w.mainLen[:256], mainLen[:256])
	w.lengths(w.mainLen[256:], mainLen[256:])
	w.lengths(w.lenLen, lenLen)
	w.mainLen, w.lenLen = mainLen, lenLen
	mainCode, lenCode, lowCode := codes(mainLen), codes(lenLen), codes(lowLen)
	for _, t := range tokens {
		w.bits.put(mainCode[t.main], int(mainLen[t.main]))
		if t.length >= 0 {
			w.bits.put(lenCode[t.length], int(lenLen[t.length]))
		}
		if kind == Aligned && t.bits >= 3 {
			w.bits.put(t.extra>>3, t.bits-3)
			w.bits.put(lowCode[t.extra&7], int(lowLen[t.extra&7]))
		} else {
			w.bits.put(t.extra, t.bits)
		}
		w.at += t.size
		w.frame()
	}
}

// lengths writes code lengths as differences from those of the block before, runs of zeros as one code.
func (w *lzxWriter) lengths(before, now []uint8) {
	type code struct{ symbol, extra, bits, difference int }
	var list []code
	for i := 0; i < len(now); {
		run := 1
		for i+run < len(now) && now[i+run] == now[i] && run < 51 {
			run++
		}
		difference := (int(before[i]) - int(now[i]) + 17) % 17
		switch {
		case now[i] == 0 && run >= 20:
			list = append(list, code{18, run - 20, 5, -1})
		case now[i] == 0 && run >= 4:
			run = min(run, 19)
			list = append(list, code{17, run - 4, 4, -1})
		case run >= 4:
			run = min(run, 5)
			list = append(list, code{19, run - 4, 1, difference})
		default:
			run = 1
			list = append(list, code{difference, 0, 0, -1})
		}
		i += run
	}
	count := make([]int, 20)
	for _, c := range list {
		count[c.symbol]++
		if c.difference >= 0 {
			count[c.difference]++
		}
	}
	lengths := codeLengths(count, 15)
	numbers := codes(lengths)
	for _, n := range lengths {
		w.bits.put(uint32(n), 4)
	}
	for _, c := range list {
		w.bits.put(numbers[c.symbol], int(lengths[c.symbol]))
		w.bits.put(uint32(c.extra), c.bits)
		if c.difference >= 0 {
			w.bits.put(numbers[c.difference], int(lengths[c.difference]))
		}
	}
}
