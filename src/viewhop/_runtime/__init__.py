"""What any long computation needs: threads, memory, progress, files, lazy imports."""
