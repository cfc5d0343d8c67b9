package grade

import (
	"slices"
	"testing"
)

func TestImports(t *testing.T) {
	script := `"""import nothing"""
from __future__ import annotations
import numpy as np
import sklearn.metrics
from sklearn.preprocessing import (
    LabelBinarizer,
)
from .classes import CLASSES
from  torch import nn
try:
    import optional
except ImportError:
    pass
importlib = 1
import pandas	# tabs and comments
`
	want := []string{"numpy", "sklearn", "torch", "pandas"}
	if got := Imports([]byte(script)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
