"""How good the embeddings are: sets × methods × tasks × seeds, ``make bench-quality``."""
