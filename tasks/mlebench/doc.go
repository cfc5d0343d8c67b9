// Package mlebench opens a checkout of the MLE-bench repository: its 75
// competitions, and the 7 of its development split, become tasks.
//
// A checkout holds descriptions, graders and, when git-LFS has fetched them,
// leaderboards. The data does not come with it: "mlebench prepare" puts it
// below a data directory as <id>/prepared/public, which the agent sees at
// /home/data, and <id>/prepared/private, the answers, which only a grader's
// sandbox sees. The working directory is /home, and what is graded is
// /home/submission/submission.csv.
//
// A submission is graded by the competition's own grade.py, run through
// sidecar.py by the user's Python on a bench. Where Python or a module is
// missing, the competitions whose grader is a plain metric are graded by
// package metric instead, through the same checks in the same order
// (native.go, plans.go). The verdict says which it was. Medals follow the
// leaderboard rule; where leaderboard.csv is only a git-LFS pointer the
// thresholds come from competitions.csv, and the task and verdict say so.
//
// checkout.go finds competitions, config.go reads config.yaml, prepared.go
// says what of the data is missing, standing.go makes thresholds, task.go puts
// the task together, grader.go judges, validate.go serves an agent that asks
// whether its file is valid, report.go writes MLE-bench's own records.
package mlebench
