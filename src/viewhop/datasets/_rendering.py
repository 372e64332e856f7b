"""Images of boxes on a table, ray traced for a pinhole camera, with shadows and antialiasing.

Lengths are in centimetres, z points up, the table is the plane z = 0; grey values are 0 to 255.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Box", "Camera"]

Floats = NDArray[np.float64]

#: Rays per pixel along either axis: a frame is rendered at four times its size and averaged.
FINE = 4
#: Direction of the light source, and the share of ambient light.
_LIGHT = np.array([-0.45, -0.35, 1.0]) / np.linalg.norm([-0.45, -0.35, 1.0])
_AMBIENT = 0.45
#: Share of the light that reaches a shadow.
_SHADE = 0.55


@dataclass(frozen=True)
class Box:
    """An upright box.

    Attributes
    ----------
    middle : (3,) array
    heading : float
        Direction of its length in the plane, in radians.
    sides : (3,) array
        Length, width and height.
    grey : float
        Grey value of a fully lit face.
    """

    middle: Floats
    heading: float
    sides: Floats
    grey: float

    def corners(self) -> Floats:
        """Its corners, (8, 3)."""
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
        return np.asarray(signs * self.sides / 2 @ self._axes() + self.middle)

    def hits(self, origin: Floats, rays: Floats) -> tuple[Floats, Floats]:
        """Distances at which rays enter the box, in ray lengths, and the light on the face hit.

        Parameters
        ----------
        origin : (3,) or (n_rays, 3) array
        rays : (3,) or (n_rays, 3) array

        Returns
        -------
        distance : (n_rays,) array
            Infinite for rays that miss.
        light : (n_rays,) array
            From 0 to 1.
        """
        axes = self._axes()
        start, along = np.broadcast_arrays((origin - self.middle) @ axes.T, rays @ axes.T)
        # A ray parallel to a face would divide by 0; an almost parallel one gives the same result.
        along = np.where(np.abs(along) < 1e-12, 1e-12, along)
        near = (-np.sign(along) * self.sides / 2 - start) / along
        far = (np.sign(along) * self.sides / 2 - start) / along
        face = np.argmax(near, axis=-1)
        entry = np.max(near, axis=-1)
        is_hit = (entry <= np.min(far, axis=-1)) & (entry > 0)
        facing = -np.sign(np.take_along_axis(along, face[..., None], axis=-1))[..., 0]
        slope = facing * (axes @ _LIGHT)[face]
        light = _AMBIENT + (1 - _AMBIENT) * np.clip(slope, 0, None)
        return np.where(is_hit, entry, np.inf), light

    def _axes(self) -> Floats:
        """Its length, width and height as unit vectors, (3, 3)."""
        c, s = np.cos(self.heading), np.sin(self.heading)
        return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


class Camera:
    """A camera that points at the middle of the table, with its image of the empty table.

    Parameters
    ----------
    place : (3,) array
        Position of the camera.
    size : pair of int
        Width and height of an image in pixels.
    lens : float
        Focal length divided by the width of an image.
    table : callable
        Grey values of points on the table, from (n_points, 2) to (n_points,).
    """

    def __init__(
        self,
        place: Sequence[float],
        *,
        size: tuple[int, int],
        lens: float,
        table: Callable[[Floats], Floats],
    ) -> None:
        self.place = np.asarray(place, dtype=np.float64)
        self.shape = (size[1] * FINE, size[0] * FINE)
        ahead = -self.place / np.linalg.norm(self.place)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        self._frame = np.stack([right, np.cross(ahead, right), ahead])
        self._focus = lens * self.shape[1]
        rows, columns = np.indices(self.shape) + 0.5
        across = (columns - self.shape[1] / 2) / self._focus
        down = (rows - self.shape[0] / 2) / self._focus
        self.rays = np.stack([across, down, np.ones(self.shape)], axis=-1) @ self._frame
        # Rays that do not point down miss the table; here all rays of a camera point down.
        steps = self.place[2] / np.maximum(-self.rays[..., 2], 1e-3)
        self.ground = self.place + steps[..., None] * self.rays
        self.empty = table(self.ground[..., :2].reshape(-1, 2)).reshape(self.shape)

    def picture(self, boxes: Sequence[Box]) -> Floats:
        """Grey values of the table with boxes on it, (height, width)."""
        canvas = self.empty.copy()
        shadow = np.zeros(self.shape, dtype=bool)
        for box in boxes:
            corners = box.corners()
            falls = corners - corners[:, 2:] / _LIGHT[2] * _LIGHT
            part = self._part(np.concatenate([corners * [1, 1, 0], falls]))
            distance, _ = box.hits(self.ground[part], _LIGHT)
            shadow[part] |= np.isfinite(distance)
        canvas[shadow] *= _SHADE
        depth = np.full(self.shape, np.inf)
        for box in boxes:
            part = self._part(box.corners())
            distance, light = box.hits(self.place, self.rays[part])
            is_front = distance < depth[part]
            depth[part][is_front] = distance[is_front]
            canvas[part][is_front] = box.grey * light[is_front]
        height, width = self.shape
        tiles = canvas.reshape(height // FINE, FINE, width // FINE, FINE)
        return np.asarray(tiles.mean(axis=(1, 3)))

    def project(self, points: Floats) -> Floats:
        """Row and column of points in the fine image, (n_points, 2)."""
        right, down, ahead = ((points - self.place) @ self._frame.T).T
        row = down / ahead * self._focus + self.shape[0] / 2
        column = right / ahead * self._focus + self.shape[1] / 2
        return np.column_stack([row, column])

    def _part(self, points: Floats) -> tuple[slice, slice]:
        """The rectangle of the fine image that contains the points."""
        pixels = self.project(points)
        low = np.clip(np.floor(pixels.min(axis=0)).astype(int) - 1, 0, self.shape)
        high = np.clip(np.ceil(pixels.max(axis=0)).astype(int) + 1, 0, self.shape)
        return slice(low[0], high[0]), slice(low[1], high[1])
