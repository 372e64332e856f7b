"""Changes of files: ``mutate(rng, data, others) -> bytes``, one module per kind of file."""
