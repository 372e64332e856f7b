"""Archives: plain data and arrays in one file that cannot execute code.

A file is a zip of ``manifest.json`` and one ``.npy`` member per array. The manifest contains the
version of the format, the plain data, and for each array its dtype, shape, order, size and
SHA-256. Reading executes no code and imports nothing that the file names; a file that violates the
format raises a `viewhop.errors.ModelFileError` that names the file and the member.
"""

from viewhop._storage.archive.manifest import VERSION
from viewhop._storage.archive.reader import Archive, name_file, read
from viewhop._storage.archive.writer import write

__all__ = ["VERSION", "Archive", "name_file", "read", "write"]
