// Space: all panels of three dimensions on one canvas with one WebGL context.
// plotly's own scatter3d builds a mesh for each marker and a context for each panel: seconds for
// what takes a frame here, where the diffusion time is three numbers of a shader.

const VERTEX = `#version 300 es
in vec3 place; in vec3 colour; in float mark;
uniform vec3 scale, centre; uniform mat3 turn; uniform vec2 lens; uniform float fit, size, wanted;
out vec3 tint; out float depth;
void main() {
  vec3 p = turn * ((place * scale - centre) * fit);
  float away = 3.4 - p.z;
  gl_Position = vec4(p.xy * lens, -p.z * 0.3 * away, away);
  gl_PointSize = size * 3.4 / away * (mark == 1.0 ? 1.35 : 1.0);
  if (abs(mark - wanted) > 0.5) gl_Position = vec4(9.0, 9.0, 9.0, 1.0);
  tint = colour; depth = clamp(0.5 - 0.5 * p.z, 0.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec3 tint; in float depth;
uniform vec3 ground; uniform float alpha, round;
out vec4 shade;
void main() {
  vec2 q = gl_PointCoord - 0.5;
  if (round > 0.5 && dot(q, q) > 0.25) discard;
  shade = vec4(mix(tint, ground, 0.45 * depth), alpha);
}`;

const space = { gl: null, uniforms: {}, held: new Map(), places: [], turn: null, zoom: 1, waiting: false, drawn: 0 };
const canDrawSpace = () => report.panels.kept >= 3;

function startTurn() {
  const [a, b] = [-0.6, 0.42];
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
  if (space.gl || !canDrawSpace()) return;
  const canvas = byId("space");
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
  if (!gl) {
    byId("space-note").textContent = "This browser gives no WebGL 2, so there are no panels of three dimensions.";
    byId("space-stage").hidden = true;
    return;
  }
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  ["place", "colour", "mark"].forEach((name, k) => gl.bindAttribLocation(program, k, name));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "the shaders do not link");
  gl.useProgram(program);
  for (const name of ["scale", "centre", "turn", "lens", "fit", "size", "wanted", "ground", "alpha", "round"]) space.uniforms[name] = gl.getUniformLocation(program, name);
  gl.enable(gl.DEPTH_TEST);
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.enable(gl.SCISSOR_TEST);
  space.turn ??= startTurn();
  space.gl = gl;
  canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); space.gl = null; space.held.clear(); });
  canvas.addEventListener("webglcontextrestored", () => openSpace());
  drawSpace("all");
}

/** The buffers of a panel, filled when they are first needed and where something changed. */
function heldBy(one) {
  const gl = space.gl;
  let held = space.held.get(one);
  if (!held) {
    held = { array: gl.createVertexArray(), place: gl.createBuffer(), colour: gl.createBuffer(), mark: gl.createBuffer(), box: gl.createBuffer(), frame: gl.createVertexArray(), stale: new Set(["points", "colours", "selection"]) };
    gl.bindVertexArray(held.array);
    [["place", 3, gl.FLOAT, false], ["colour", 3, gl.UNSIGNED_BYTE, true], ["mark", 1, gl.UNSIGNED_BYTE, false]].forEach(([name, size, kind, normal], k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, held[name]);
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, size, kind, normal, 0, 0);
    });
    gl.bindVertexArray(held.frame);
    gl.bindBuffer(gl.ARRAY_BUFFER, held.box);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    space.held.set(one, held);
  }
  const fill = (name, values) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, held[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  };
  const axes = [0, 1, 2].map((axis) => one.coordinate(state.axes[axis]));
  if (held.stale.has("points")) {
    const places = new Float32Array(3 * one.rows);
    axes.forEach(({ values }, axis) => { for (let row = 0; row < one.rows; row++) places[3 * row + axis] = values[row]; });
    fill("place", places);
  }
  if (held.stale.has("colours")) {
    const { table, level } = colouring();
    const parts = table.map(rgb);
    const tints = new Uint8Array(3 * one.rows);
    for (let row = 0; row < one.rows; row++) tints.set(parts[level(one.sample(row))], 3 * row);
    fill("colour", tints);
  }
  if (held.stale.has("selection")) {
    const marks = new Uint8Array(one.rows);
    if (state.count) for (let row = 0; row < one.rows; row++) marks[row] = state.chosen[one.sample(row)] ? 1 : 2;
    fill("mark", marks);
  }
  held.stale.clear();
  held.axes = axes;
  return held;
}

/** Say what changed, and draw in the next frame. */
function drawSpace(...what) {
  if (!space.gl) return;
  for (const held of space.held.values()) what.forEach((one) => (one === "all" ? ["points", "colours", "selection"] : [one]).forEach((part) => held.stale.add(part)));
  if (space.waiting) return;
  space.waiting = true;
  requestAnimationFrame(() => { space.waiting = false; paintSpace(); });
}

function paintSpace() {
  const { gl, uniforms } = space;
  if (!gl) return;
  const canvas = byId("space");
  const shown = visible();
  const width = byId("space-stage").clientWidth;
  const { places, height } = grid(width, shown.length, { square: true });
  const dpr = Math.min(devicePixelRatio || 1, 2);
  space.places = places;
  const size = [Math.round(width * dpr), Math.round(height * dpr)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) {
    [canvas.width, canvas.height] = size;
    canvas.style.height = `${height}px`;
  }
  caption(byId("space-captions"), shown, places);
  gl.scissor(0, 0, canvas.width, canvas.height);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const ground = rgb(styled("--card")).map((v) => v / 255);
  const line = rgb(styled("--soft")).map((v) => v / 255);
  gl.uniform3fv(uniforms.ground, ground);
  gl.uniformMatrix3fv(uniforms.turn, false, space.turn);
  shown.forEach((one, k) => {
    const held = heldBy(one);
    const { x, y, w, h } = places[k];
    const port = [x * dpr, (height - y - h) * dpr, w * dpr, h * dpr].map(Math.round);
    gl.viewport(...port);
    gl.scissor(...port);
    const view = framed(held, w, h);
    gl.uniform3fv(uniforms.centre, view.centre);
    gl.uniform1f(uniforms.fit, view.fit);
    gl.uniform2fv(uniforms.lens, view.lens);
    paintFrame(held, view, line);
    gl.bindVertexArray(held.array);
    gl.uniform3fv(uniforms.scale, view.scale);
    gl.uniform1f(uniforms.size, (pointSize(one.rows) + 0.6) * dpr * Math.min(1.5, Math.sqrt(space.zoom)));
    gl.uniform1f(uniforms.round, 1);
    const passes = state.count ? [[2, 0.08, false], [1, 1, true]] : [[0, 0.92, true]];
    for (const [wanted, alpha, writes] of passes) {
      gl.uniform1f(uniforms.wanted, wanted);
      gl.uniform1f(uniforms.alpha, alpha);
      gl.depthMask(writes);
      gl.drawArrays(gl.POINTS, 0, one.rows);
    }
    gl.depthMask(true);
    nameAxes(view, places[k]);
  });
  space.drawn += 1;
}

/** Where a panel's points lie at the time in use, and how they are brought to the unit ball. */
function framed(held, w, h) {
  const scale = held.axes.map((_, axis) => factor(state.axes[axis], state.time));
  const low = held.axes.map((axis, k) => axis.low * scale[k]);
  const high = held.axes.map((axis, k) => axis.high * scale[k]);
  const centre = low.map((v, k) => (v + high[k]) / 2);
  const half = Math.hypot(...low.map((v, k) => (high[k] - v) / 2));
  const lens = 3.1 * space.zoom;
  return { scale, low, high, centre, fit: half > 0 ? 1 / half : 1, lens: [lens * Math.min(1, h / w), lens * Math.min(1, w / h)] };
}

/** The box about the points. */
function paintFrame(held, view, line) {
  const { gl, uniforms } = space;
  const corner = (k) => [0, 1, 2].map((axis) => ((k >> axis) & 1 ? view.high : view.low)[axis]);
  const ends = [];
  for (let k = 0; k < 8; k++) for (let axis = 0; axis < 3; axis++) if (!((k >> axis) & 1)) ends.push(...corner(k), ...corner(k | (1 << axis)));
  gl.bindVertexArray(held.frame);
  gl.bindBuffer(gl.ARRAY_BUFFER, held.box);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(ends), gl.DYNAMIC_DRAW);
  gl.vertexAttrib3fv(1, line);
  gl.vertexAttrib1f(2, 0);
  gl.uniform3f(uniforms.scale, 1, 1, 1);
  gl.uniform1f(uniforms.wanted, 0);
  gl.uniform1f(uniforms.alpha, 0.35);
  gl.uniform1f(uniforms.round, 0);
  gl.drawArrays(gl.LINES, 0, ends.length / 3);
}

/** Where a point of a panel is on the page, relative to the stage, and how near. */
function projected(p, view, { x, y, w, h }) {
  const q = p.map((v, k) => (v - view.centre[k]) * view.fit);
  const m = space.turn;
  const [a, b, c] = [0, 1, 2].map((row) => m[row] * q[0] + m[row + 3] * q[1] + m[row + 6] * q[2]);
  const away = 3.4 - c;
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

/** The sample whose point is nearest to a place on the stage; −1 if none is near. */
function nearestInSpace(left, top) {
  const k = space.places.findIndex(({ x, y, w, h }) => left >= x && left <= x + w && top >= y && top <= y + h);
  if (k < 0) return -1;
  const one = visible()[k];
  const held = space.held.get(one);
  const place = space.places[k];
  const view = framed(held, place.w, place.h);
  let best = -1, least = 64, front = Infinity;
  for (let row = 0; row < one.rows; row++) {
    if (state.count && !state.chosen[one.sample(row)]) continue;
    const p = held.axes.map((axis, k) => axis.values[row] * view.scale[k]);
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
      const sample = space.gl ? nearestInSpace(left, top) : -1;
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
    // Only where the canvas was chosen: otherwise the wheel scrolls the page.
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

/** Open the panels of three dimensions once they come near the screen. */
function watchSpace() {
  if (!canDrawSpace()) {
    byId("space-note").textContent = `There ${report.panels.kept === 1 ? "is one coordinate" : "are two coordinates"}; a fit with n_components of 3 or more has panels of three dimensions.`;
    byId("space-stage").hidden = true;
    byId("axis-2").hidden = true;
    return;
  }
  byId("space-note").textContent = "Drag to turn all panels together, or use the arrow keys; + and − zoom, 0 resets. The wheel zooms once a panel was clicked.";
  const { height } = grid(byId("space-stage").clientWidth, visible().length, { square: true });
  byId("space").style.height = `${height}px`;
  listenToSpace();
  const watcher = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    watcher.disconnect();
    openSpace();
  }, { rootMargin: "150px" });
  watcher.observe(byId("space-stage"));
}
