// Points: samples drawn by the graphics card, all panels of a canvas with one WebGL context.
// plotly's scattergl and scatter3d take a second or more for each change of a few 100,000 points,
// a context for each panel in 3-D, and permission to run text as code. Here the coordinates ψ are
// sent once; the diffusion time is three numbers of a shader, and a selection an order to draw in.

const VERTEX = `#version 300 es
in vec3 place; in vec4 colour;
uniform vec3 scale, centre; uniform mat3 turn; uniform vec2 lens; uniform float fit, size, far;
out vec3 tint; out float depth; flat out int shape;
void main() {
  vec3 p = turn * ((place * scale - centre) * fit);
  float away = far > 0.0 ? far - p.z : 1.0;
  gl_Position = vec4(p.xy * lens, far > 0.0 ? -p.z * 0.3 * away : 0.0, away);
  // A shape other than a disc needs more room to be recognised.
  gl_PointSize = size * (colour.a > 0.0 ? 1.35 : 1.0) * (far > 0.0 ? far / away : 1.0);
  tint = colour.rgb; shape = int(colour.a * 255.0 + 0.5); depth = far > 0.0 ? clamp(0.5 - 0.5 * p.z, 0.0, 1.0) : 0.0;
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec3 tint; in float depth; flat in int shape;
uniform vec3 ground; uniform float alpha, round;
out vec4 shade;
void main() {
  // How far out a point is, 0.5 at its edge, which is soft by half a pixel or so; lines have none.
  vec2 p = gl_PointCoord - 0.5, q = abs(p);
  float edge = shape == 0 ? length(p)
    : shape == 1 ? 1.12 * max(q.x, q.y)
    : shape == 2 ? max(p.y + 0.05, 0.9 * q.x - 0.45 * p.y + 0.22)
    : max(max(q.x, q.y), min(q.x, q.y) + 0.3);
  float rim = round > 0.5 ? 1.0 - smoothstep(0.36, 0.5, edge) : 1.0;
  if (rim < 0.1) discard;
  shade = vec4(mix(tint, ground, 0.4 * depth), alpha * rim);
}`;
const UNIFORMS = ["scale", "centre", "turn", "lens", "fit", "size", "far", "ground", "alpha", "round"];
const PARTS = ["points", "colours", "selection"];
/** Most points that are drawn, while others are selected, of those that are not. */
const FAINT = 20000;
const UNTURNED = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const nextFrame = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });

class Points {
  /** `coordinates` gives the values of a panel along each of the three axes, or null for zeros.
   *  Of more than `most` points of a panel, every second or third is drawn, and all that are selected. */
  constructor(canvas, coordinates, paint, most = Infinity) {
    Object.assign(this, { canvas, coordinates, paint, most, gl: null, uniforms: {}, held: new Map(), waiting: null });
  }

  /** Whether the canvas can be drawn on. */
  open() {
    if (this.gl) return true;
    const gl = this.canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true });
    if (!gl) return false;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["place", "colour"].forEach((name, k) => gl.bindAttribLocation(program, k, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "the shaders do not link");
    gl.useProgram(program);
    for (const name of UNIFORMS) this.uniforms[name] = gl.getUniformLocation(program, name);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.SCISSOR_TEST);
    if (!this.listens) {
      this.listens = true;
      this.canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.gl = null; this.held.clear(); });
      this.canvas.addEventListener("webglcontextrestored", () => { this.open(); this.draw(); });
    }
    this.gl = gl;
    return true;
  }

  /** Mark parts as changed, and draw in the next frame; resolves when that is done. */
  draw(...parts) {
    if (!this.gl) return Promise.resolve();
    for (const held of this.held.values()) parts.forEach((part) => held.stale.add(part));
    this.waiting ??= new Promise((done, failed) => {
      requestAnimationFrame(() => {
        this.waiting = null;
        try {
          if (this.gl) this.paint();
          done();
        } catch (error) {
          failed(error);
        }
      });
    });
    return this.waiting;
  }

  /** Begin a frame of so many pixels. */
  begin(width, height) {
    const { gl, canvas } = this;
    this.dpr = Math.min(devicePixelRatio || 1, 2);
    this.height = height;
    const size = [Math.round(width * this.dpr), Math.round(height * this.dpr)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) {
      [canvas.width, canvas.height] = size;
      canvas.style.height = `${height}px`;
    }
    gl.scissor(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform3fv(this.uniforms.ground, rgb(styled("--card")).map((v) => v / 255));
  }

  /** Draw the points of a panel in a rectangle, as a view says: scale, centre, fit, lens, turn, far. */
  panel(one, { x, y, w, h }, view) {
    const { gl, uniforms, dpr } = this;
    const held = this.filled(one);
    const port = [x, this.height - y - h, w, h].map((v) => Math.round(v * dpr));
    gl.viewport(...port);
    gl.scissor(...port);
    gl.uniform3fv(uniforms.centre, view.centre);
    gl.uniform1f(uniforms.fit, view.fit);
    gl.uniform2fv(uniforms.lens, view.lens);
    gl.uniform1f(uniforms.far, view.far);
    gl.uniformMatrix3fv(uniforms.turn, false, view.turn);
    if (view.box) this.lines(held, view.box);
    gl.bindVertexArray(held.array);
    gl.uniform3fv(uniforms.scale, view.scale);
    held.scale = view.scale;
    gl.uniform1f(uniforms.round, 1);
    const depth = view.far > 0;
    (depth ? gl.enable : gl.disable).call(gl, gl.DEPTH_TEST);
    const faint = held.others > 10000 ? 0.08 : 0.12;
    for (const [start, count, alpha, size, writes] of state.count
      ? [[0, held.others, faint, 1, false], [one.rows - held.count, held.count, 1, 1.35, depth]]
      : [[0, held.others, 0.85, 1, depth]]) {
      gl.uniform1f(uniforms.size, view.size * size * dpr);
      gl.uniform1f(uniforms.alpha, alpha);
      gl.depthMask(writes);
      gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 4 * start);
    }
    gl.depthMask(true);
  }

  lines(held, ends) {
    const { gl, uniforms } = this;
    gl.bindVertexArray(held.frame);
    gl.bindBuffer(gl.ARRAY_BUFFER, held.box);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(ends), gl.DYNAMIC_DRAW);
    gl.vertexAttrib4fv(1, [...rgb(styled("--soft")).map((v) => v / 255), 0]);
    gl.uniform3f(uniforms.scale, 1, 1, 1);
    gl.uniform1f(uniforms.alpha, 0.35);
    gl.uniform1f(uniforms.round, 0);
    gl.drawArrays(gl.LINES, 0, ends.length / 3);
  }

  /** The buffers of a panel, created when first needed, and filled where something changed. */
  filled(one) {
    const { gl } = this;
    let held = this.held.get(one);
    if (!held) {
      held = { array: gl.createVertexArray(), frame: gl.createVertexArray(), stale: new Set(PARTS) };
      for (const name of ["place", "colour", "order", "box"]) held[name] = gl.createBuffer();
      gl.bindVertexArray(held.array);
      [["place", 3, gl.FLOAT, false], ["colour", 4, gl.UNSIGNED_BYTE, true]].forEach(([name, size, kind, normal], k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, held[name]);
        gl.enableVertexAttribArray(k);
        gl.vertexAttribPointer(k, size, kind, normal, 0, 0);
      });
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, held.order);
      gl.bindVertexArray(held.frame);
      gl.bindBuffer(gl.ARRAY_BUFFER, held.box);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
      this.held.set(one, held);
    }
    const fill = (name, values) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, held[name]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    };
    if (held.stale.has("points")) {
      const places = new Float32Array(3 * one.rows);
      this.coordinates(one).forEach((values, axis) => { if (values) for (let row = 0; row < one.rows; row++) places[3 * row + axis] = values[row]; });
      fill("place", places);
    }
    if (held.stale.has("colours")) {
      // Red, green, blue and the number of the shape.
      const { table, shapes, level } = colouring();
      const marks = table.map((colour, k) => [...rgb(colour), shapes[k]]);
      const tints = new Uint8Array(4 * one.rows);
      for (let row = 0; row < one.rows; row++) tints.set(marks[level(one.sample(row))], 4 * row);
      fill("colour", tints);
    }
    if (held.stale.has("selection")) {
      // Rows in the order of drawing: selected ones last, on top.
      const order = new Uint32Array(one.rows);
      // The others form a faint background, for which some of them are enough.
      const step = Math.ceil(one.rows / (state.count ? Math.min(this.most, FAINT) : this.most)) || 1;
      let first = 0, last = one.rows;
      for (let row = 0; row < one.rows; row++) {
        if (state.chosen[one.sample(row)]) order[--last] = row;
        else if (row % step === 0) order[first++] = row;
      }
      held.others = first;
      held.count = one.rows - last;
      gl.bindVertexArray(held.array);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.DYNAMIC_DRAW);
    }
    held.stale.clear();
    return held;
  }

  /** The coordinates of a panel (without λ^t), the factors of the last frame, and selected rows. */
  readBack(one) {
    const { gl } = this;
    const held = this.held.get(one);
    if (!gl || !held) throw new Error("this panel is not drawn yet");
    const places = new Float32Array(3 * one.rows);
    const rows = new Uint32Array(held.count);
    gl.bindBuffer(gl.ARRAY_BUFFER, held.place);
    gl.getBufferSubData(gl.ARRAY_BUFFER, 0, places);
    gl.bindVertexArray(held.array);
    if (held.count) gl.getBufferSubData(gl.ELEMENT_ARRAY_BUFFER, 4 * (one.rows - held.count), rows);
    return { places, rows, scale: held.scale };
  }
}
