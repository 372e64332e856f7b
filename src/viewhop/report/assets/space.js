// Space: the three-dimensional panels, which turn together.

const FAR = 3.4;
/** Panels with more points than this show only some of them, so that turning stays smooth. */
const MOST_IN_SPACE = 50000;
const space = { points: null, places: [], turn: null, zoom: 1 };
const canDrawSpace = () => report.panels.kept >= 3;

function startTurn() {
  const [a, b] = [-0.55, 0.4];
  const [c, s, d, u] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
  // Columns: about the vertical first, then about the horizontal.
  return [c, u * s, -d * s, 0, d, u, s, -u * c, d * c];
}

function turned(m, about, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const r = about === "y" ? [c, 0, -s, 0, 1, 0, s, 0, c] : [1, 0, 0, 0, c, s, 0, -s, c];
  return m.map((_, k) => {
    const [row, column] = [k % 3, Math.floor(k / 3)];
    return r[row] * m[3 * column] + r[row + 3] * m[3 * column + 1] + r[row + 6] * m[3 * column + 2];
  });
}

function openSpace() {
  if (!canDrawSpace() || space.points?.gl) return Promise.resolve();
  space.turn = startTurn();
  space.points = new Points(byId("space"), (one) => [0, 1, 2].map((axis) => one.coordinate(state.axes[axis]).values), paintSpace, MOST_IN_SPACE);
  if (!space.points.open()) {
    byId("space-note").textContent = "This browser allows no second WebGL context, so there are no three-dimensional panels.";
    byId("space-stage").hidden = true;
    return Promise.resolve();
  }
  listenToSpace();
  return space.points.draw();
}

const drawSpace = (...parts) => space.points?.draw(...parts) ?? Promise.resolve();

function paintSpace() {
  const shown = visible();
  const width = byId("space-stage").clientWidth;
  const { places, height } = grid(width, shown.length, { square: true });
  space.places = places;
  space.points.begin(width, height);
  caption(byId("space-captions"), shown, places);
  shown.forEach((one, k) => {
    const view = framed(one, places[k]);
    space.points.panel(one, places[k], view);
    nameAxes(view, places[k]);
  });
}

/** The map of a panel's points to the unit ball at the time in use, and their bounding box. */
function framed(one, { w, h }) {
  const axes = state.axes.map((k) => one.coordinate(k));
  const scale = state.axes.map((k) => factor(k, state.time));
  const low = axes.map((axis, k) => axis.low * scale[k]);
  const high = axes.map((axis, k) => axis.high * scale[k]);
  const centre = low.map((v, k) => (v + high[k]) / 2);
  const half = Math.hypot(...low.map((v, k) => (high[k] - v) / 2));
  const lens = 3.5 * space.zoom;
  const corner = (k) => [0, 1, 2].map((axis) => ((k >> axis) & 1 ? high : low)[axis]);
  const ends = [];
  for (let k = 0; k < 8; k++) for (let axis = 0; axis < 3; axis++) if (!((k >> axis) & 1)) ends.push(...corner(k), ...corner(k | (1 << axis)));
  return {
    scale, low, high, centre, axes, box: ends, turn: space.turn, far: FAR, fit: half > 0 ? 1 / half : 1,
    lens: [lens * Math.min(1, h / w), lens * Math.min(1, w / h)], size: (pointSize(one.rows) + 0.4) * Math.min(1.5, Math.sqrt(space.zoom)),
  };
}

/** Where a point of a panel is on the page, relative to the stage, and how near. */
function projected(p, view, { x, y, w, h }) {
  const q = p.map((v, k) => (v - view.centre[k]) * view.fit);
  const m = space.turn;
  const [a, b, c] = [0, 1, 2].map((row) => m[row] * q[0] + m[row + 3] * q[1] + m[row + 6] * q[2]);
  const away = FAR - c;
  return [x + w * (0.5 + 0.5 * a * view.lens[0] / away), y + h * (0.5 - 0.5 * b * view.lens[1] / away), away];
}

function nameAxes(view, place) {
  state.axes.forEach((coordinate, axis) => {
    const middle = view.low.map((v, k) => (k === axis ? (v + view.high[k]) / 2 : v));
    const out = middle.map((v, k) => (k === axis ? v : v - 0.06 / view.fit));
    const [left, top] = projected(out, view, place);
    const text = make("i", {}, String(coordinate + 1));
    Object.assign(text.style, { left: `${left}px`, top: `${top}px` });
    byId("space-captions").append(text);
  });
}

/** The sample with the point nearest to a place on the stage; −1 if none is near. */
function nearestInSpace(left, top) {
  const k = space.places.findIndex(({ x, y, w, h }) => left >= x && left <= x + w && top >= y && top <= y + h);
  if (k < 0) return -1;
  const one = visible()[k];
  const place = space.places[k];
  const view = framed(one, place);
  let best = -1, least = 64, front = Infinity;
  for (let row = 0; row < one.rows; row++) {
    if (state.count && !state.chosen[one.sample(row)]) continue;
    const p = view.axes.map((axis, k) => axis.values[row] * view.scale[k]);
    const [a, b, away] = projected(p, view, place);
    const gap = (a - left) ** 2 + (b - top) ** 2;
    if (gap < least - 16 || (gap < least && away < front)) [best, least, front] = [row, gap, away];
  }
  return best < 0 ? -1 : one.sample(best);
}

function listenToSpace() {
  const canvas = byId("space");
  let from = null, moved = 0, asked = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    from = place(event);
    moved = 0;
    canvas.setPointerCapture(event.pointerId);
    tip("");
  });
  canvas.addEventListener("pointermove", (event) => {
    const [left, top] = place(event);
    if (from) {
      const [dx, dy] = [left - from[0], top - from[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      space.turn = turned(turned(space.turn, "y", dx * 0.009), "x", dy * 0.009);
      from = [left, top];
      drawSpace();
      return;
    }
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => {
      const sample = nearestInSpace(left, top);
      tip(sample < 0 ? "" : describe(sample), event.clientX, event.clientY);
    });
  });
  const end = (event) => {
    if (from && moved < 4 && event.type === "pointerup") {
      const sample = nearestInSpace(...place(event));
      if (sample >= 0) toggleSample(sample, event.shiftKey || event.ctrlKey || event.metaKey);
    }
    from = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => { cancelAnimationFrame(asked); tip(""); });
  canvas.addEventListener("wheel", (event) => {
    // Only if the canvas has the focus: otherwise the wheel scrolls the page.
    if (document.activeElement !== canvas) return;
    event.preventDefault();
    zoomSpace(Math.exp(-event.deltaY * 0.0012));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const turns = { ArrowLeft: ["y", -0.12], ArrowRight: ["y", 0.12], ArrowUp: ["x", -0.12], ArrowDown: ["x", 0.12] };
    if (turns[event.key]) space.turn = turned(space.turn, ...turns[event.key]);
    else if (event.key === "+" || event.key === "=") zoomSpace(1.15);
    else if (event.key === "-") zoomSpace(1 / 1.15);
    else if (event.key === "0") resetSpace();
    else return;
    event.preventDefault();
    drawSpace();
  });
}

function zoomSpace(by) {
  space.zoom = Math.max(0.4, Math.min(12, space.zoom * by));
  drawSpace();
}

function resetSpace() {
  space.turn = startTurn();
  space.zoom = 1;
  drawSpace();
}

/** Open the three-dimensional panels once they come near the screen. */
function watchSpace() {
  if (!canDrawSpace()) {
    byId("space-note").textContent = `There ${report.panels.kept === 1 ? "is one coordinate" : "are two coordinates"}; three-dimensional panels need n_components of 3 or more.`;
    byId("space-stage").hidden = true;
    byId("axis-2").hidden = true;
    return;
  }
  byId("space-note").textContent = "Drag to turn all panels together, or use the arrow keys; + and − zoom, 0 resets. Click a panel to zoom with the wheel.";
  const most = Math.max(...panels.map((one) => one.rows));
  if (most > MOST_IN_SPACE) byId("space-note").textContent += ` Panels with more than ${whole(MOST_IN_SPACE)} points show one in ${Math.ceil(most / MOST_IN_SPACE)} of them here, and all selected ones.`;
  const { height } = grid(byId("space-stage").clientWidth, visible().length, { square: true });
  byId("space").style.height = `${height}px`;
  const watcher = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    watcher.disconnect();
    openSpace();
  }, { rootMargin: "150px" });
  watcher.observe(byId("space-stage"));
}
