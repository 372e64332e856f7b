"""Model files with one value changed, hashes and all: what a hostile sender could craft."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import traceback
import warnings

import numpy as np

import viewhop as vh
from tests.support import make_golden
from tests.support.model_files import as_member, put_together, taken_apart
from viewhop.errors import ConvergenceError, MemoryBudgetError, ModelFileError
from viewhop.kernels import Gaussian, Laplacian, Precomputed

#: What every leaf and branch of the manifest is replaced by, in turn.
VALUES = (
    *(0, -1, 1, 3, 2**63, 10**19, 0.5, -0.5, 1e308, -1e308, 1e-308, 5e-324),
    *(True, False, None, "", "x", "a" * 100_000, [], {}, [0], {"x": 0}),
)
#: The same with other spellings, which JSON does not have but Python's reader takes.
TEXTS = ("NaN", "Infinity", "-Infinity", "1e999")
#: What every array is filled with, and its first or last number replaced by.
NUMBERS = (0.0, -1.0, 1.0, 1e308, -1e308, 1e200, 1e-308, 5e-324, math.nan, math.inf, -math.inf)
WHOLE = (0, -1, 1, 2**31 - 1, -(2**31))

RNG = np.random.default_rng(5)
A = RNG.standard_normal((14, 3))
B = RNG.standard_normal((14, 2)) + A[:, :2]
LOCAL = Gaussian("local", n_neighbors=5)


def gapped():
    X, Y = A.copy(), B.copy()
    X[3], Y[5:7] = np.nan, np.nan
    return {"a": X, "b": Y}


def maps(X, **params):
    return vh.MultiViewDiffusionMaps(2, random_state=0, **params).fit(X)


#: Small models of all kinds.
MODELS = {
    "golden hop": make_golden.hop,
    "golden product": make_golden.product,
    "golden clusters": make_golden.clusters,
    "weights": lambda: maps([A, B], kernel=Gaussian(), view_weights=[1.0, 0.5]),
    "joint": lambda: maps(gapped(), kernel=LOCAL, joint_view=True),
    "tapered": lambda: maps(
        [A, B],
        kernel=Gaussian("local", n_neighbors=5, taper=0.3, metric="centered-cosine", alpha=1.0),
        within_view_weight=0.3,
        output="mean",
    ),
    "manhattan": lambda: maps(
        [A, B], kernel=[Laplacian(metric="manhattan"), Gaussian(metric="manhattan", n_neighbors=5)]
    ),
    "sum": lambda: maps(gapped(), fusion="sum", kernel=[LOCAL, Laplacian()]),
    "dense product": lambda: maps([A, B], fusion="product", kernel=Gaussian(standardize=True)),
    "concat": lambda: maps([A, B], fusion="concat", kernel=Gaussian(alpha=1.0)),
    "local concat": lambda: maps(
        [A, B], fusion="concat", kernel=[LOCAL, Gaussian("local", n_neighbors=5, metric="cosine")]
    ),
    "alternating": lambda: maps([A, B], fusion="alternating", kernel=Gaussian()),
    "integrated": lambda: maps([A, B], fusion="integrated", kernel=Gaussian(0.7)),
    "composite": lambda: maps([A, B], fusion="composite", kernel=Gaussian()),
    "given": lambda: maps([A @ A.T + 20, B @ B.T + 20], kernel=Precomputed(), n_steps=3.5),
    "one view": lambda: vh.DiffusionMaps(2, kernel=LOCAL, random_state=0).fit(A),
    "cluster rows": lambda: vh.DeSaEmbedding(2, kernel=Gaussian(), random_state=0).fit([A, B]),
    "canonical": lambda: vh.KernelCCA(
        2, kernel=[Gaussian(standardize=True), Laplacian(metric="manhattan")], rank=6
    ).fit([A, B]),
    "canonical, given": lambda: vh.KernelCCA(
        1, kernel=Precomputed(), rank=3, center=False, views=3
    ).fit(np.hstack([X @ X.T + 20 for X in (A, B, A[:, :2] * B)])),
    "clusters": lambda: vh.MultiViewSpectralClustering("auto", random_state=0).fit(
        [np.vstack([X, X + 30.0]) for X in (A, B)]
    ),
}


def write_models(folder):
    """The bytes of every model's file, and samples to ask it about, by name."""
    contents = {}
    for name, fit in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            est = fit()
        path = folder / f"{name}.viewhop"
        est.save(path)
        contents[name] = path.read_bytes()
    return contents


def leaves(node, way=()):
    """The way to every value below a node, branches included."""
    yield way
    inner = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in inner:
        if isinstance(value, dict | list):
            yield from leaves(value, (*way, key))
        else:
            yield (*way, key)


def changes(content):
    """All changes of a file, as (what, how) pairs."""
    manifest, _ = taken_apart(content)
    for way in leaves(manifest["model"]):
        if way:
            yield from (("value", way, k) for k in range(len(VALUES) + len(TEXTS)))
    for name, entry in manifest["arrays"].items():
        numbers = NUMBERS if "f" in entry["dtype"] else WHOLE
        for k in range(len(numbers)):
            yield from (("array", name, (k, where)) for where in ("all", "first", "last"))
        yield from (("array", name, how) for how in ("empty", "longer", "flat", "dtype", "absent"))


def changed(content, change):
    """The bytes of a file after a change; hashes and sizes are those of the changed members."""
    manifest, members = taken_apart(content)
    kind, place, how = change
    if kind == "value":
        value = VALUES[how] if how < len(VALUES) else "@hostile@"
        *way, last = place
        node = manifest["model"]
        for key in way:
            node = node[key]
        node[last] = copy.deepcopy(value)
        if how < len(VALUES):
            return put_together(manifest, members)
        return _spelt(manifest, members, TEXTS[how - len(VALUES)])
    if how == "absent":
        del manifest["arrays"][place], members[f"{place}.npy"]
        return put_together(manifest, members)
    array = _changed_array(_array(manifest, members, place), how)
    manifest["arrays"][place] = {"dtype": array.dtype.str, "shape": [*array.shape], "order": "C"}
    members[f"{place}.npy"] = as_member(array)
    return put_together(manifest, members)


def with_first_number(content, name, number):
    """The bytes of a file in which the first number of an array is another one."""
    manifest, members = taken_apart(content)
    array = _array(manifest, members, name)
    array.reshape(-1)[0] = number
    manifest["arrays"][name] = {"dtype": array.dtype.str, "shape": [*array.shape], "order": "C"}
    members[f"{name}.npy"] = as_member(array)
    return put_together(manifest, members)


def _spelt(manifest, members, text):
    """The file with a number that only Python's reader of JSON takes."""
    for name, entry in manifest["arrays"].items():
        data = members[f"{name}.npy"]
        entry |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    raw = json.dumps(manifest).replace('"@hostile@"', text).encode()
    return put_together(raw, members, honest=False)


def _array(manifest, members, name):
    entry = manifest["arrays"][name]
    size = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
    data = members[f"{name}.npy"]
    flat = np.frombuffer(data[len(data) - size :], entry["dtype"])
    return np.ascontiguousarray(flat.reshape(entry["shape"], order=entry["order"])).copy()


def _changed_array(array, how):
    if how == "empty":
        return array[:0]
    if how == "longer":
        return np.concatenate([array, array[-1:]])
    if how == "flat":
        return array.reshape(-1, 1) if array.ndim == 1 else array.ravel()
    if how == "dtype":
        return array.astype(np.float32 if array.dtype == np.float64 else np.float64)
    k, where = how
    numbers = NUMBERS if array.dtype.kind == "f" else WHOLE
    place = {"all": slice(None), "first": 0, "last": -1}[where]
    flat = array.reshape(-1)
    with np.errstate(over="ignore"):
        flat[place] = np.asarray(numbers[k]).astype(array.dtype)
    return flat.reshape(array.shape)


def rows_for(schema):
    """New samples with the columns of a model, as a dict of views."""
    rng = np.random.default_rng(0)
    return {
        name: np.abs(rng.standard_normal((3, min(width, 1000)))).astype(schema.dtype)
        for name, width in zip(schema.names, schema.widths, strict=True)
    }


def stacked(schema):
    """New samples as one array, if the model was fitted on one."""
    if schema.n_columns is not None and schema.n_columns <= 1000:
        yield np.abs(np.random.default_rng(0).standard_normal((3, schema.n_columns)))


def questions(est):
    """All that a fitted estimator can be asked, as functions without arguments."""
    schema = est._schema
    names = schema.names
    new = rows_for(schema)
    first = {names[0]: new[names[0]][:1]}
    for name in dir(type(est)):
        if name.endswith("_") and not name.startswith("_"):
            yield lambda name=name: getattr(est, name, None)
    for samples in (new, first, *stacked(schema)):
        if hasattr(est, "transform"):
            yield lambda samples=samples: est.transform(samples)
        else:
            yield lambda samples=samples: est.predict(samples)
    yield lambda: repr(est)
    if isinstance(est, vh.KernelCCA):
        yield est.get_feature_names_out
        return
    geometry = est.geometry_
    yield lambda: geometry.embedding(3.5)
    yield lambda: geometry.embedding(0.0)
    yield lambda: vh.report.render(est, layout=False)
    yield lambda: vh.diffusion.transition_probabilities(est, 2, names[0], names[-1], [0])
    yield lambda: vh.diffusion.inner_view_distance(est, names[0], [0], [1], n_steps=2)
    yield lambda: vh.diffusion.truncation_bounds(est, 0, 1)
    yield lambda: vh.diffusion.multi_view_distance(est, [0], [1])
    for name in ("get_feature_names_out", "disagreement", "view_similarity", "view_influence"):
        if hasattr(est, name):
            yield getattr(est, name)


def outcome(path):
    """What loading and asking a file comes to: "refused", "used", or the fault that shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module="sklearn.*", category=UserWarning)
        for own in (getattr(vh.errors, name) for name in dir(vh.errors)):
            if isinstance(own, type) and issubclass(own, Warning):
                warnings.simplefilter("ignore", own)
        try:
            est = vh.load(path)
        except ModelFileError:
            return "refused"
        except Exception as error:
            return fault("load", error)
        try:
            for k, ask in enumerate(questions(est)):
                try:
                    ask()
                except (ConvergenceError, MemoryBudgetError):
                    pass
                except Exception as error:
                    if not is_own(error):
                        return fault(f"question {k}", error)
        except Exception as error:
            return fault("questions", error)
    return "used"


def is_own(error):
    """Whether viewhop itself raised a ValueError, or scikit-learn its own of an input."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, ValueError) and ("viewhop" in last or "sklearn" in last)


def fault(when, error):
    """A line on a fault: when, what and where."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "viewhop" in frame.filename]
    place = f"{own[-1].filename.rsplit('/', 1)[-1]}:{own[-1].lineno}" if own else "?"
    return f"{when}: {type(error).__name__}: {str(error)[:120]} at {place}"
