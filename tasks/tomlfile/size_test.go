package tomlfile

import "testing"

func TestParseSize(t *testing.T) {
	for in, want := range map[any]int64{
		"2G": 2 << 30, "512M": 512 << 20, "64 GB": 64 << 30, "1.5 GiB": 3 << 29, "100k": 100 << 10, "1T": 1 << 40,
		"1024": 1024, "1B": 1, int64(7): 7,
	} {
		if got, ok := ParseSize(in); !ok || got != want {
			t.Errorf("ParseSize(%v) = %d, %v, want %d", in, got, ok, want)
		}
	}
	for _, in := range []any{"", "G", "-1G", "2X", "2 GG", "1e9", "0", "9999999T", int64(0), int64(-1), 1.5, true, nil} {
		if got, ok := ParseSize(in); ok {
			t.Errorf("ParseSize(%v) = %d", in, got)
		}
	}
}
