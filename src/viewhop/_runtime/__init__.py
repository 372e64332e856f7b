"""Services for long computations: threads, memory, progress, files, lazy imports."""
