package tasks

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"outputs", "starter", "read_only", "modules", "log", "digits", "diabetes"}
	for _, tc := range []struct {
		word string
		want []string
	}{
		{"output", []string{"outputs"}},
		{"Outputs", []string{"outputs"}},
		{"readonly", []string{"read_only"}},
		{"digit", []string{"digits"}},
		{"lgo", []string{"log"}},
		{"entirely-different", nil},
		{"", nil},
	} {
		if got := Nearest(tc.word, known); !slices.Equal(got, tc.want) {
			t.Errorf("Nearest(%q) = %q, want %q", tc.word, got, tc.want)
		}
	}
}

func TestNearestOrdersByDistanceAndStopsAtThree(t *testing.T) {
	got := Nearest("task", []string{"tasks-x", "tasks", "tusk", "mask", "task"})
	want := []string{"task", "tasks", "tusk"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
