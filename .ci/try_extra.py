"""Try one extra of viewhop where the others are missing, as ``python try_extra.py NAME``.

Uses what the extra brings, and asks for what every other extra would bring: that must end in one
line that says what to install, or in the result that the documentation promises without it. With
``--block`` the packages of the other extras count as missing although they are installed.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

#: What each extra brings.
MODULES = {
    "plot": ("matplotlib",),
    "report": ("plotly",),
    "map": ("openTSNE",),
    "ann": ("faiss",),
    "dimension": ("skdim",),
    "seismic": ("obspy",),
    "vision": ("cv2", "skimage"),
    "data": ("pyarrow", "zstandard"),
    "excel": ("openpyxl",),
    "zarr": ("zarr",),
    "omics": ("mudata", "h5py"),
}
#: A zip file without members.
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
#: Packages that come along with those of an extra.
COMES_ALONG = {"seismic": ("matplotlib",), "dimension": ("matplotlib",)}


class Without:
    """Finds modules as usual, but for some packages, which it does not find."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.finders = [*sys.meta_path]
        sys.meta_path.clear()

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name.partition(".")[0] in self.names:
            return None
        found = (finder.find_spec(name, path, target) for finder in self.finders)
        return next((spec for spec in found if spec is not None), None)

    def find_distributions(self, *context: object) -> Iterator[object]:
        for finder in self.finders:
            if hasattr(finder, "find_distributions"):
                yield from finder.find_distributions(*context)


def views() -> list[np.ndarray]:
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 120)
    first = np.column_stack([np.cos(angle), np.sin(angle)])
    return [first, np.column_stack([angle, first[:, 0], first[:, 1] ** 2])]


def use_plot() -> None:
    import viewhop as vh

    vh.plotting.spectrum([0.9, 0.5, 0.1])


def use_report() -> None:
    import viewhop as vh

    est = vh.DiffusionMaps(2, kernel="gaussian").fit(views()[0])
    assert vh.report.render(est, layout=False).startswith("<!doctype html>")


def use_map() -> None:
    import viewhop as vh

    layout = vh.lay_out(vh.DiffusionMaps(2, kernel="gaussian").fit(views()[0]))
    if layout.method != "tsne":
        raise ImportError(layout.note)


def use_ann() -> None:
    import viewhop as vh

    kernel = vh.kernels.Gaussian("local", n_neighbors=5, search="faiss")
    est = vh.DiffusionMaps(2, kernel=kernel).fit(views()[0])
    assert np.isfinite(est.embedding_).all()


def use_dimension() -> None:
    import viewhop as vh

    assert 0.5 < vh.dimension.danco(views()[1]) < 3


def use_seismic() -> None:
    import viewhop as vh
    from viewhop.seismic.io._simulated_files import write_simulated

    events = vh.seismic.make_events(1, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        first, *_ = write_simulated(folder, events)
        assert vh.seismic.io.read_waveforms(first)


def use_vision() -> None:
    from viewhop.experiments._vision import bags_of_words, phog

    pictures = [*np.random.default_rng(0).integers(0, 255, (3, 48, 64), dtype=np.uint8)]
    assert len(phog(pictures)) == 3
    assert len(bags_of_words(pictures, n_words=4, random_state=0)) == 3


def use_data() -> None:
    import viewhop as vh

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.parquet")
        vh.tables.write(path, {"a": [1.0, 2.0]})
        assert vh.tables.read(path).columns
        if importlib.util.find_spec("zstandard") is not None:
            import zstandard

            packed = Path(folder, "some.csv.zst")
            packed.write_bytes(zstandard.compress(b"a,b\n1,2\n"))
            assert vh.tables.read(packed).columns == ("a", "b")


def use_excel() -> None:
    import viewhop as vh

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.xlsx")
        if importlib.util.find_spec("openpyxl") is None:
            path.write_bytes(EMPTY_ZIP)
        else:
            import openpyxl

            book = openpyxl.Workbook()
            for row in (["a", "b"], [1, 2]):
                book.active.append(row)
            book.save(path)
        assert vh.tables.read(path).columns == ("a", "b")


def use_zarr() -> None:
    import viewhop as vh

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.zarr")
        path.mkdir()
        if importlib.util.find_spec("zarr") is not None:
            import zarr

            zarr.create_array(str(path), data=np.eye(3), overwrite=True)
        assert vh.tables.read(path).matrix.shape == (3, 3)


def use_omics() -> None:
    from anndata import AnnData
    from mudata import MuData

    import viewhop as vh

    data = MuData({f"m{k}": AnnData(view) for k, view in enumerate(views())})
    assert vh.Views.from_mudata(data).names == ("m0", "m1")
    vh.scverse.diffmap(data, 2)
    assert data.obsp["connectivities"].shape == (120, 120)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "some.h5mu")
        data.write(path)
        assert vh.tables.read(f"{path}::m0").matrix.shape == (120, 2)


def told(use: Callable[[], None], extra: str) -> bool:
    """Whether the use of an extra that is missing ends in a line that names it."""
    try:
        use()
    except Exception as error:
        return f"viewhop[{extra}]" in str(error)
    return False


def main(extra: str, *, block: bool) -> None:
    present = (*MODULES[extra], *COMES_ALONG.get(extra, ()))
    missing = [
        name
        for name, modules in MODULES.items()
        if name not in (extra, "omics") and not {*modules} & {*present}
    ]
    if block:
        sys.meta_path.insert(0, Without({part for name in missing for part in MODULES[name]}))
    globals()[f"use_{extra}"]()
    silent = [
        name
        for name in missing
        if importlib.util.find_spec(MODULES[name][0]) is None
        and not told(globals()[f"use_{name}"], name)
    ]
    assert not silent, f"nothing says what to install for {', '.join(silent)}"
    print(f"{extra}: works, and {len(missing)} other extras are named where they are missing")


if __name__ == "__main__":
    main(sys.argv[1], block="--block" in sys.argv)
