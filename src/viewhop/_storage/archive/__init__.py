"""Archives: plain data and arrays in one file, which nothing in it can make do anything.

A file is a zip of ``manifest.json`` and one ``.npy`` member per array. The manifest has the
version of the format, the plain data, and for each array its dtype, shape, order, size and
SHA-256. Reading runs no code and imports nothing that the file names; whatever does not fit is
refused, by a `viewhop.errors.ModelFileError` that names the file and the member.
"""

from viewhop._storage.archive.manifest import VERSION
from viewhop._storage.archive.reader import name_file, read
from viewhop._storage.archive.writer import write

__all__ = ["VERSION", "name_file", "read", "write"]
