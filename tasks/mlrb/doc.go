// Package mlrb opens a checkout of ML Research Benchmark's tasks and grades
// them where that can be done.
//
// All tasks stand in mlrb_agent_tasks/prompts.py as a Python list of
// dictionaries, which is read here as text: no code of the checkout is run to
// list them. prompt_template.j2 says how a prompt is made of one, and the
// folders full_benchmark/NAME and mini_benchmark/NAME hold the files that
// belong to it.
//
// The suite has no grader that gives a number by itself. A person runs
// lm_eval or the suite's agent-eval on the model that the agent left. Proctor
// runs that command in a sandbox where it is installed, or one given in
// the settings; otherwise the verdict says which command to run and how
// to enter what it says.
package mlrb
