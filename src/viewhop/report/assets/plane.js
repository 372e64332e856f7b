// Plane: the two-dimensional panels, their axes, and the tools for dragging.

const EDGE = { left: 54, right: 6, top: 4, bottom: 30 };

const plane = { points: null, places: [], views: new Map() };
const isStrip = (one) => one !== map && report.panels.kept === 1;
const axisTexts = (one) => (isStrip(one) ? ["sample", "coordinate 1"] : state.axes.slice(0, 2).map((k) => `coordinate ${k + 1}`));

/** Values, reach and factor of a panel along one axis at the time in use. */
function along(one, axis) {
  if (one === map) return { ...one.coordinate(axis), scale: 1 };
  if (isStrip(one) && axis === 0) {
    one.numbers ??= Float32Array.from({ length: one.rows }, (_, row) => one.sample(row) + 1);
    return { values: one.numbers, low: 1, high: report.samples, scale: 1 };
  }
  const k = state.axes[isStrip(one) ? 0 : axis];
  return { ...one.coordinate(k), scale: factor(k, state.time) };
}

/** The part of a panel where points are. */
const inside = ({ x, y, w, h }) => ({ x: x + EDGE.left, y: y + EDGE.top, w: w - EDGE.left - EDGE.right, h: h - EDGE.top - EDGE.bottom });

/** The centre and the units per pixel that show everything; both axes have the same unit. */
function fitted(one, place) {
  const { w, h } = inside(place);
  const axes = [along(one, 0), along(one, 1)];
  const middle = axes.map(({ low, high, scale }) => scale * (low + high) / 2);
  const units = axes.map(({ low, high, scale }, k) => Math.max(scale * (high - low), 1e-30) * 1.07 / [w, h][k]);
  const one_unit = Math.max(...units);
  return { middle, units: isStrip(one) ? units : [one_unit, one_unit] };
}

/** The part of a panel that is shown: all of it, unless the reader moved or zoomed. */
const planeView = (one, place) => plane.views.get(one) ?? fitted(one, place);

function paintPlane() {
  const shown = flat();
  const width = byId("plane-stage").clientWidth;
  const { places, height } = grid(width, shown.length, { leads: map !== null });
  plane.places = places;
  plane.points.begin(width, height);
  caption(byId("plane-captions"), shown, places);
  const marks = [];
  shown.forEach((one, k) => {
    const room = inside(places[k]);
    const { middle, units } = planeView(one, places[k]);
    const size = pointSize(one.rows);
    const scale = [along(one, 0).scale, along(one, 1).scale, 1];
    // In units of the narrower view first: squares of tiny coordinates must not vanish.
    plane.points.panel(one, room, { scale, centre: [...middle, 0], fit: 1 / units[0], lens: [2 / room.w, 2 * units[0] / units[1] / room.h], far: 0, turn: UNTURNED, size });
    marks.push(...(one === map ? [frame(room)] : axisMarks(one, places[k], room, middle, units)));
  });
  const picture = byId("plane-axes");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.style.height = `${height}px`;
  picture.replaceChildren(...marks);
}

/** Round values for the ticks of an axis, about so many. */
function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * power >= rough * 0.999) * power;
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high && ticks.length < 30; k++) ticks.push(k * step);
  return ticks;
}

const short = (value) => (Math.abs(value) < 1e-12 ? "0" : digits(value));

const frame = (room) => draw("rect", { x: room.x, y: room.y, width: room.w, height: room.h, class: "frame" });

/** Grid, ticks and names of the axes of a panel; the map has a frame only, as its axes mean nothing. */
function axisMarks(one, place, room, middle, units) {
  const shapes = [frame(room)];
  const half = [room.w / 2 * units[0], room.h / 2 * units[1]];
  const text = (content, more) => draw("text", more, document.createTextNode(content));
  for (const value of ticks(middle[0] - half[0], middle[0] + half[0], Math.max(2, room.w / 90))) {
    const at = room.x + room.w / 2 + (value - middle[0]) / units[0];
    shapes.push(draw("line", { x1: at, x2: at, y1: room.y, y2: room.y + room.h }));
    if (at < room.x + room.w - 74) shapes.push(text(short(value), { x: at, y: room.y + room.h + 14, "text-anchor": "middle" }));
  }
  for (const value of ticks(middle[1] - half[1], middle[1] + half[1], Math.max(2, room.h / 70))) {
    const at = room.y + room.h / 2 - (value - middle[1]) / units[1];
    shapes.push(draw("line", { x1: room.x, x2: room.x + room.w, y1: at, y2: at }));
    shapes.push(text(short(value), { x: room.x - 6, y: at + 3.5, "text-anchor": "end" }));
  }
  const [across, up] = axisTexts(one);
  shapes.push(text(across, { x: room.x + room.w, y: room.y + room.h + 14, "text-anchor": "end", class: "axis" }));
  shapes.push(text(up, { transform: `translate(${place.x + 10} ${room.y}) rotate(-90)`, "text-anchor": "end", class: "axis" }));
  return shapes;
}

/** The panel at a place on the stage, and the place in its coordinates. */
function planeAt(left, top) {
  const k = plane.places.findIndex((place) => {
    const { x, y, w, h } = inside(place);
    return left >= x && left <= x + w && top >= y && top <= y + h;
  });
  return k < 0 ? null : { one: flat()[k], place: plane.places[k], room: inside(plane.places[k]) };
}

/** Call a function with the pixels of every row of a panel. */
function eachPixel(one, place, tell) {
  const room = inside(place);
  const { middle, units } = planeView(one, place);
  const [x, y] = [along(one, 0), along(one, 1)];
  for (let row = 0; row < one.rows; row++) {
    tell(row, room.x + room.w / 2 + (x.values[row] * x.scale - middle[0]) / units[0], room.y + room.h / 2 - (y.values[row] * y.scale - middle[1]) / units[1]);
  }
}

function nearestInPlane(left, top) {
  const at = planeAt(left, top);
  if (!at) return -1;
  let best = -1, least = 100;
  eachPixel(at.one, at.place, (row, a, b) => {
    if (state.count && !state.chosen[at.one.sample(row)]) return;
    const gap = (a - left) ** 2 + (b - top) ** 2;
    if (gap <= least) [best, least] = [row, gap];
  });
  return best < 0 ? -1 : at.one.sample(best);
}

/** Samples with a point inside a closed line, by how often a ray crosses it. */
function enclosed(one, place, corners) {
  const mask = new Uint8Array(report.samples);
  const xs = corners.map(([a]) => a), ys = corners.map(([, b]) => b);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  eachPixel(one, place, (row, a, b) => {
    if (a < left || a > right || b < top || b > bottom) return;
    let is = false;
    for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
      if ((ys[i] > b) !== (ys[j] > b) && a < (xs[j] - xs[i]) * (b - ys[i]) / (ys[j] - ys[i]) + xs[i]) is = !is;
    }
    if (is) mask[one.sample(row)] = 1;
  });
  return mask;
}

const box = ([a, b], [c, d]) => [[a, b], [c, b], [c, d], [a, d]];

function listenToPlane() {
  const canvas = byId("plane");
  let drag = null, asked = 0;
  const spot = (event) => {
    const edges = canvas.getBoundingClientRect();
    return [event.clientX - edges.left, event.clientY - edges.top];
  };
  const outline = (corners) => byId("outline").setAttribute("d", corners ? `M${corners.map((p) => p.join(" ")).join("L")}Z` : "");
  canvas.addEventListener("pointerdown", (event) => {
    const at = planeAt(...spot(event));
    if (!at || state.tool === "none" || event.button !== 0) return;
    drag = { ...at, path: [spot(event)], view: planeView(at.one, at.place), keeps: event.shiftKey, at: [event.clientX, event.clientY] };
    canvas.setPointerCapture(event.pointerId);
    tip("");
  });
  canvas.addEventListener("pointermove", (event) => {
    const [left, top] = spot(event);
    if (!drag) {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(() => {
        const sample = nearestInPlane(left, top);
        tip(sample < 0 ? "" : describe(sample), event.clientX, event.clientY);
      });
      return;
    }
    const [from] = drag.path;
    if (state.tool === "pan") {
      const { middle, units } = drag.view;
      plane.views.set(drag.one, { units, middle: [middle[0] - (left - from[0]) * units[0], middle[1] + (top - from[1]) * units[1]] });
      plane.points.draw();
    } else {
      drag.path.push([left, top]);
      outline(state.tool === "lasso" ? drag.path : box(from, [left, top]));
    }
  });
  const end = (event) => {
    if (!drag) return;
    const { one, place, room, path, view, keeps } = drag;
    const last = spot(event);
    const far = Math.hypot(last[0] - path[0][0], last[1] - path[0][1]) > 4 || path.length > 8;
    drag = null;
    outline(null);
    if (event.type !== "pointerup") return;
    if (!far) {
      const sample = nearestInPlane(...last);
      if (sample >= 0) toggleSample(sample, keeps || event.ctrlKey || event.metaKey);
      else if (!keeps) choose(null);
    } else if (state.tool === "lasso" || state.tool === "select") {
      const mask = enclosed(one, place, state.tool === "lasso" ? path : box(path[0], last));
      if (keeps) state.chosen.forEach((is, sample) => { mask[sample] |= is; });
      choose(mask);
    } else if (state.tool === "zoom") {
      const share = isStrip(one) ? [Math.abs(last[0] - path[0][0]) / room.w, Math.abs(last[1] - path[0][1]) / room.h] : Array(2).fill(Math.max(Math.abs(last[0] - path[0][0]) / room.w, Math.abs(last[1] - path[0][1]) / room.h));
      const [a, b] = [(path[0][0] + last[0]) / 2, (path[0][1] + last[1]) / 2];
      const middle = [view.middle[0] + (a - room.x - room.w / 2) * view.units[0], view.middle[1] - (b - room.y - room.h / 2) * view.units[1]];
      plane.views.set(one, { middle, units: view.units.map((unit, k) => unit * Math.max(share[k], 0.01)) });
      plane.points.draw();
    }
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => { cancelAnimationFrame(asked); tip(""); });
  canvas.addEventListener("dblclick", resetPlane);
  canvas.addEventListener("wheel", (event) => {
    // Only if the canvas has the focus: otherwise the wheel scrolls the page.
    const at = planeAt(...spot(event));
    if (!at || document.activeElement !== canvas) return;
    event.preventDefault();
    const [left, top] = spot(event);
    const { middle, units } = planeView(at.one, at.place);
    const by = Math.exp(event.deltaY * 0.0012);
    const [a, b] = [left - at.room.x - at.room.w / 2, top - at.room.y - at.room.h / 2];
    plane.views.set(at.one, { units: units.map((unit) => unit * by), middle: [middle[0] + a * units[0] * (1 - by), middle[1] - b * units[1] * (1 - by)] });
    plane.points.draw();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const zooms = { "+": 1 / 1.2, "=": 1 / 1.2, "-": 1.2 };
    if (event.key === "0") resetPlane();
    else if (moves[event.key] || zooms[event.key]) {
      flat().forEach((one, k) => {
        const { middle, units } = planeView(one, plane.places[k]);
        const [dx, dy] = moves[event.key] ?? [0, 0];
        const by = zooms[event.key] ?? 1;
        plane.views.set(one, { units: units.map((unit) => unit * by), middle: [middle[0] + 40 * dx * units[0], middle[1] + 40 * dy * units[1]] });
      });
      plane.points.draw();
    } else return;
    event.preventDefault();
  });
}

/** Show all of every view again, after its coordinates changed; the map stays. */
function refitViews() {
  for (const one of plane.views.keys()) if (one !== map) plane.views.delete(one);
}

function resetPlane() {
  plane.views.clear();
  return plane.points.draw();
}

function openPlane() {
  plane.points = new Points(byId("plane"), (one) => [along(one, 0).values, along(one, 1).values, null], paintPlane);
  if (!plane.points.open()) throw new Error("this browser has no WebGL 2, which draws the points");
  listenToPlane();
  return plane.points.draw();
}
