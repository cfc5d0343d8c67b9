"""What the tasks of MLRC-Bench import of their harness, as Proctor provides it."""
