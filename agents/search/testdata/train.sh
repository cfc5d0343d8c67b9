#!/bin/sh
# A trainer whose validation accuracy is a known function of its flags:
# best at model=mlp, lr near 0.01 and many epochs; knn has one knob, k.
model=linear lr=0.1 k=3 epochs=6
while [ $# -gt 0 ]; do
	case $1 in
	--model) model=$2 ;;
	--lr) lr=$2 ;;
	--k) k=$2 ;;
	--epochs) epochs=$2 ;;
	*) echo "unknown flag $1" >&2; exit 2 ;;
	esac
	shift 2
done
[ "$model" = broken ] && { echo "cannot allocate" >&2; exit 3; }
[ "$model" = mute ] && exit 0
echo "val_accuracy 0.1"
awk -v m="$model" -v lr="$lr" -v k="$k" -v e="$epochs" 'BEGIN {
	d = log(lr) / log(10) + 2
	a = (m == "mlp" ? 0.97 : 0.93) - 0.03 * d * d - 0.2 / e
	if (m == "knn") a = 0.95 - 0.004 * (k - 5) * (k - 5)
	printf "val_accuracy %.4f\n", a
}'
echo "$model lr=$lr k=$k epochs=$epochs" > submission.txt
