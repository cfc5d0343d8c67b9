// Package mlrcbench opens a checkout of MLRC-Bench and grades its tasks by
// its own rules.
//
// A task is a folder below MLAgentBench/benchmarks_base:
//
//	env/main.py                   python main.py -m METHOD -p dev|test
//	env/evaluation.py, constants.py, data/
//	env/methods/                  all that the agent may change
//	scripts/research_problem.txt, background.txt
//	scripts/read_only_files.txt   of them, what it may not change in methods/
//	scripts/test_constants.py, test_data/
//
// During the run only the dev phase can be run. main.py reports each result
// through MLAgentBench.utils; the suite's own package of that name asks a
// language model about the code and would bring the answers along, so a small
// one of Proctor's lies in the workspace in its place. It prints the result,
// which makes it a metric, adds it to output/idea_evals.json, and keeps the
// methods/ of the best one in output/best.
//
// After the run those methods are put into an unchanged copy of env/ whose
// constants are swapped for the test phase's, and main.py -p test is run in a
// fresh sandbox. The verdict is the margin closed: how far the score comes
// from the suite's baseline (0) to the best human in the competition (1).
package mlrcbench
