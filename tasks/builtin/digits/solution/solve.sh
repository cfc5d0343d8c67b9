#!/bin/sh
# Runs in the workspace; writes submission/submission.csv.
set -eu
exec python3 "$(dirname "$0")/solve.py"
