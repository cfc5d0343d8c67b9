#!/bin/sh
# Grades the submission; verdict.py says where it looks and how it reports.
set -eu
logs=${PROCTOR_LOGS:-/logs/verifier}
rm -rf "$logs/reward.json" "$logs/reward.txt" # a reward that lies here already was not earned
cd "${PROCTOR_TESTS:-/tests}"
exec python3 -I -S grade.py
