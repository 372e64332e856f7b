"""The commands of ``viewhop``, one file each; nothing heavy is imported before a command runs."""
