// Package mlagentbench opens a checkout of MLAgentBench and grades its tasks
// by its own rules.
//
// A task is a folder below MLAgentBench/benchmarks:
//
//	env/                          what the agent gets, copied into its workspace
//	scripts/research_problem.txt  the instruction
//	scripts/read_only_files.txt   patterns of files that the agent may not change
//	scripts/prepare.py, prepared  how its data are fetched, and that they were
//	scripts/eval.py               the grader: get_score(folder) returns a number
//
// scripts/ is never where the agent is. After the run eval.py is run with the
// person's Python in a fresh sandbox, on the copy of the agent's outputs and
// beside the unchanged env/. What a score is compared with stands nowhere in
// those folders, only in the suite's plotting script: the embedded table has
// it. A run succeeds when it improves the baseline by more than 10 %, judged
// at its last step.
//
// Task "vectorization" is the exception. Its own grader believes the time
// that the submission wrote down, and takes the first of several; here both
// the starter and the submission are run and timed side by side.
//
// [ReadTrace] reads the record of a run of the suite's own agent.
package mlagentbench
