package tomlfile

import (
	"regexp"
	"strconv"
	"strings"
)

var size = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?$`)

// ParseSize reads a size as Harbor's early schemas wrote it: "2G", "512M",
// "1.5 GiB", or a plain number of bytes. Units are powers of 1024.
func ParseSize(v any) (bytes int64, ok bool) {
	text, isString := v.(string)
	if n, isInt := v.(int64); isInt && n > 0 {
		return n, true
	}
	m := size.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(text)))
	if !isString || m == nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, false
	}
	for _, unit := range "KMGT" {
		if m[2] == "" {
			break
		}
		x *= 1024
		if m[2] == string(unit) {
			break
		}
	}
	const petabyte = 1 << 50
	if x < 1 || x > petabyte {
		return 0, false
	}
	return int64(x), true
}

// Size reads a size in bytes; an absent key and "" are 0, no limit.
func (t *Table) Size(key string) int64 {
	v, there := t.values[key]
	if !there || v == "" || v == int64(0) {
		return 0
	}
	bytes, ok := ParseSize(v)
	if !ok {
		t.Wrong(key, `a size such as "512M" or "2G"`)
	}
	return bytes
}
