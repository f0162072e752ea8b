"""Makes models that run here from checkpoints: what is wanted, the plan, the run, the result."""
