// Package harbor reads tasks in Harbor's format, which is also Proctor's own:
// a folder with
//
//	task.toml        settings
//	instruction.md   what the agent is to do
//	environment/     the files that it gets
//	tests/test.sh    the grader's script; it is never where the agent is
//	solution/        not read
//	NOTES.md         for people (or README.md)
//
// Schemas 1.0 to 1.4 are read leniently: version for schema_version,
// memory = "2G" for memory_mb, allow_internet for network_mode, and an
// unknown key is passed over. Reading a task for what it is not would be
// worse than not reading it, so what Proctor cannot honour is refused by
// name where it changes the task, and a warning where it may not matter:
//
//	key or file                                   Proctor
//	[[steps]]                                     refuses: one step per task
//	environment/docker-compose.yaml               refuses: one sandbox per run
//	artifacts with a service                      refuses, likewise
//	environment.os other than linux, tests/*.bat  refuses
//	environment.tpu                               refuses
//	environment.mcp_servers                       refuses
//	environment.healthcheck                       refuses: nothing is started that it could check
//	network_mode = "allowlist", allowed_hosts     refuses, in every table
//	verifier.environment.docker_image             refuses
//	tests/Dockerfile for a separate verifier      refuses
//	verifier.collect                              refuses: the agent's sandbox is gone by then
//	environment/Dockerfile                        takes WORKDIR and COPY; warns of RUN, ENV, USER and others
//	environment.docker_image                      warns: programs are this machine's
//	files copied outside the workspace            warns
//	artifacts outside the workspace               warns
//	${VAR} in env without a default               warns: stays unset, the host's variables are not passed
//	environment.gpu_types, skills_dir             warns
//	agent.user, verifier.user                     warns: a sandbox has one user
//	verifier.network_mode = "public"              warns: graders run without network
//	curl, apt-get, pip … in tests/test.sh         warns, likewise
//	agent.timeout_sec                             the default budget, in working time
//	verifier.timeout_sec                          the grader's limit, 10 minutes when absent
//	environment.cpus, memory_mb, gpus, workdir    honoured; the workspace is /workspace when nothing says otherwise
//	network_mode = "public", allow_internet       noted as a need; absent means none
//	build_timeout_sec, storage_mb, solution, …    passed over
//
// What Harbor has no key for stands in [metadata.proctor], where an unknown
// key is an error:
//
//	[metadata.proctor]
//	schema = 1
//	title = "Handwritten digits"
//	outputs = ["submission/submission.csv"]  # copied out and graded; absent: the whole workspace
//	starter = "python3 train.py"             # run in the workspace
//	read_only = ["data"]
//	modules = []                             # Python modules that the starter needs
//	debugger = false                         # allow ptrace inside the sandbox
//	[metadata.proctor.budget]                # any may be absent
//	time = "30m"
//	steps = 50
//	tokens = 1000000
//	cost = 5.0
//	gpu_hours = 1.0
//	[metadata.proctor.metric]
//	name = "accuracy"                        # which of the grader's numbers is the score
//	unit = ""
//	higher_is_better = true
//	pattern = 'val_accuracy[=: ]+([0-9.]+)'  # finds it in a command's output
//	[[metadata.proctor.knobs]]               # what the starter command can be told
//	name = "lr"
//	type = "float"                           # or "int"; "choice" has values instead of min, max, log
//	min = 0.001
//	max = 1.0
//	log = true
//	default = 0.1
//	fidelity = false                         # more of it costs more and tells more
//	when = {model = ["softmax"]}             # matters only then
//	[metadata.proctor.grade]
//	baseline = 0.91
//	show = "end"
//	thresholds = {gold = 0.98, silver = 0.96, bronze = 0.94, median = 0.92}
//	references = [{name = "k-NN", score = 0.97, how = "scikit-learn, k = 3"}]
//
// # Grading
//
// test.sh runs without network in a fresh sandbox. It finds its own folder at
// /tests (PROCTOR_TESTS), the submission at the task's working directory
// (PROCTOR_SUBMISSION), and an empty directory at /logs/verifier
// (PROCTOR_LOGS). The submission is read-only when the task declares its
// outputs and otherwise a copy that the script may build in. A script that
// uses the variables also runs where nothing can be mounted, and may ask for
// an inner sandbox for submitted code.
//
// The reward is, in this order: a JSON object written to the descriptor
// PROCTOR_VERDICT_FD, /logs/verifier/error.json, reward.json, reward.txt.
// reward.json is a flat object of names and finite numbers; reward.txt holds
// one number, which is called "reward". error.json, and the descriptor's
// object too, may be {"error": "…", "kind": "no_submission"} or kind
// "invalid_submission"; without a kind the grader failed.
package harbor
