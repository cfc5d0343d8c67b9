package metric

import (
	"math"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	two, nan := []float64{0, 1}, []float64{0, math.NaN()}
	for _, tc := range []struct {
		what string
		got  func() (float64, error)
		want string
	}{
		{"no rows", func() (float64, error) { return RMSE(nil, nil, nil) }, "no rows"},
		{"lengths", func() (float64, error) { return Accuracy([]int{1}, []int{1, 2}, nil) }, "2 predictions for 1 rows"},
		{"weights", func() (float64, error) { return MAE(two, two, []float64{1}) }, "1 weights for 2 rows"},
		{"negative weight", func() (float64, error) { return MAE(two, two, []float64{1, -1}) }, "weight of row 2 is -1"},
		{"NaN weight", func() (float64, error) { return MAE(two, two, nan) }, "weight of row 2 is NaN"},
		{"NaN", func() (float64, error) { return AUROC(two, nan, nil) }, "prediction of row 2 is missing or NaN"},
		{"NaN truth", func() (float64, error) { return RMSE(nan, two, nil) }, "true value of row 2"},
		{"infinite", func() (float64, error) { return RMSE(two, []float64{math.Inf(1), 0}, nil) }, "row 1 is infinite"},
		{"overflow", func() (float64, error) { return RMSE([]float64{1e300}, []float64{-1e300}, nil) }, "undefined"},
		{"three classes", func() (float64, error) { return AUROC([]float64{0, 1, 2}, []float64{0, 0, 0}, nil) }, "row 2 makes a third class"},
		{"no probability", func() (float64, error) { return LogLoss(two, []float64{0, 1.5}, nil) }, "1.5, which is no probability"},
		{"columns", func() (float64, error) { return MeanAUROC([][]float64{two}, nil, nil) }, "0 columns of predictions, expected 1"},
		{"no columns", func() (float64, error) { return MCRMSE(nil, nil, nil) }, "no rows"},
		{"which column", func() (float64, error) { return MCRMSE([][]float64{two, two}, [][]float64{two, nan}, nil) }, "in column 2 the prediction"},
		{"one-hot", func() (float64, error) {
			return LogLossColumns([][]float64{{2}, {0}}, [][]float64{{1}, {0}}, nil)
		}, "expected 0 or 1"},
		{"ragged", func() (float64, error) {
			return LogLossColumns([][]float64{{1}, {0, 1}}, [][]float64{{1}, {0, 1}}, nil)
		}, "column 2 has 2 rows"},
		{"label", func() (float64, error) { return F1Labels([][]int{{3}}, [][]int{{0}}, 3, Micro, nil) }, "label 3 of 3"},
		{"sets", func() (float64, error) { return F1([]int{1}, []int{1}, Samples, nil) }, "needs a set"},
		{"k", func() (float64, error) { return MAP([][]string{{"a"}}, [][]string{{"a"}}, 0) }, "k is 0"},
		{"one label", func() (float64, error) { return LRAP([][]float64{{1}}, [][]float64{{1}}, nil) }, "two labels"},
		{"groups", func() (float64, error) { return LogMAE(two, two, nil) }, "0 groups"},
		{"perfect group", func() (float64, error) { return LogMAE(two, two, []string{"a", "b"}) }, "no error at all"},
	} {
		x, err := tc.got()
		if err == nil || !strings.Contains(err.Error(), tc.want) || x != 0 {
			t.Errorf("%s: %v, %v; want %q", tc.what, x, err, tc.want)
		}
	}
}
