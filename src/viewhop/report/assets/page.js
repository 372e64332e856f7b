// Page: what a reader does, and what is then drawn anew.

const SLIDER = 1000;
const longest = Math.max(16, 4 * report.panels.time);
// Squares: short times, where most happens, get most of the slider.
const toTime = (place) => Number((longest * (place / SLIDER) ** 2).toPrecision(3));
const toPlace = (time) => Math.round(SLIDER * Math.sqrt(Math.min(1, time / longest)));

function setTime(time) {
  if (!Number.isFinite(time) || time < 0) return plane.running ?? Promise.resolve();
  state.time = time;
  byId("time").value = toPlace(time);
  byId("time").setAttribute("aria-valuetext", `t = ${digits(time)}`);
  if (Number(byId("time-number").value) !== time) byId("time-number").value = String(time);
  drawSpace();
  drawSpectrum();
  return drawPlane("points");
}

function listenToTime() {
  if (!report.panels.timed) {
    byId("time-field").hidden = true;
    return;
  }
  byId("time").value = toPlace(state.time);
  byId("time").setAttribute("aria-valuetext", `t = ${digits(state.time)}`);
  byId("time-number").value = String(state.time);
  byId("time").addEventListener("input", () => setTime(toTime(Number(byId("time").value))));
  byId("time-number").addEventListener("input", () => { if (byId("time-number").value !== "") setTime(Number(byId("time-number").value)); });
}

function listenToAxes() {
  const { kept } = report.panels;
  byId("axes").hidden = kept < 2;
  [0, 1, 2].forEach((axis) => {
    const list = byId(`axis-${axis}`);
    list.append(...Array.from({ length: kept }, (_, k) => make("option", { value: k }, k + 1)));
    list.value = state.axes[axis];
    list.addEventListener("change", () => {
      state.axes[axis] = Number(list.value);
      drawSpace("points");
      if (axis < 2) drawPlane("points");
    });
  });
}

function listenToColour() {
  const list = byId("colour");
  const families = new Map();
  columns.forEach((column, k) => families.set(column.family, [...(families.get(column.family) ?? []), make("option", { value: k }, column.name)]));
  for (const [family, options] of families) list.append(make("optgroup", { label: family }, ...options));
  list.append(make("option", { value: -1 }, "one colour"));
  state.colour = columns.length ? 0 : -1;
  list.value = state.colour;
  list.addEventListener("change", () => setColour(Number(list.value)));
}

function setColour(k) {
  state.colour = k;
  byId("colour").value = k;
  showLegend();
  showSelection();
  drawSpace("colours");
  return drawPlane("colours");
}

function setTool(tool) {
  state.tool = tool;
  for (const button of byId("tools").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
  if (plane.box) Plotly.relayout(plane.box, { dragmode: tool === "none" ? false : tool });
  byId("plane").style.touchAction = tool === "none" ? "auto" : "none";
}

function listenToTools() {
  // A finger that scrolls past must not draw a lasso.
  setTool(matchMedia("(pointer: coarse)").matches ? "none" : "lasso");
  for (const button of byId("tools").querySelectorAll("button")) button.addEventListener("click", () => setTool(button.dataset.tool));
  byId("fit").addEventListener("click", () => { resetSpace(); drawPlane("points"); });
}

function listenToChooser() {
  if (panels.length <= 6) return;
  byId("chooser").append(...panels.map((one, l) => {
    const box = make("input", { type: "checkbox", checked: state.shown[l] });
    box.addEventListener("change", () => {
      state.shown[l] = box.checked;
      if (!state.shown.some(Boolean)) state.shown[l] = box.checked = true;
      drawSpace();
      drawPlane("all");
    });
    return make("label", {}, box, one.name);
  }));
}

const theme = { choice: "auto", system: matchMedia("(prefers-color-scheme: dark)") };

function setTheme(choice) {
  theme.choice = choice;
  document.documentElement.dataset.theme = choice === "auto" ? (theme.system.matches ? "dark" : "light") : choice;
  for (const button of document.querySelectorAll("[data-theme-choice]")) button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  for (const line of byId("curves-legend").querySelectorAll("line")) line.setAttribute("stroke", palette()[line.dataset.colour]);
  if (!plane.box) return Promise.resolve();
  showLegend();
  drawSpectrum();
  drawCurves();
  drawSpace("colours");
  return drawPlane("all");
}

function listenToTheme() {
  for (const button of document.querySelectorAll("[data-theme-choice]")) button.addEventListener("click", () => setTheme(button.dataset.themeChoice));
  theme.system.addEventListener("change", () => { if (theme.choice === "auto") setTheme("auto"); });
  // Paper is white, whatever the screen is.
  let before = null;
  addEventListener("beforeprint", () => { before = theme.choice; setTheme("light"); });
  addEventListener("afterprint", () => { if (before) setTheme(before); });
}

function listenToWidth() {
  let width = byId("plane-stage").clientWidth, waiting = 0;
  new ResizeObserver(() => {
    if (byId("plane-stage").clientWidth === width) return;
    width = byId("plane-stage").clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => { drawPlane("all"); drawSpace(); }, 120);
  }).observe(byId("plane-stage"));
}

async function start() {
  setTheme("auto");
  showFacts();
  await unpack();
  panels = report.panels.list.map(panel);
  ids = report.ids ? array(report.ids) : null;
  byId("axis-2").hidden = !canDrawSpace();
  listenToColour();
  listenToTime();
  listenToAxes();
  listenToTools();
  listenToChooser();
  listenToSelection();
  listenToTheme();
  showLegend();
  await drawPlane("all");
  const seconds = performance.now() / 1000;
  watchSpace();
  listenToWidth();
  // What stands below the first screen comes after it.
  showSpectrum();
  showCurves();
  showSimilarity();
  showGraphs();
  showMissing();
  showRun();
  setTheme(theme.choice === "auto" ? "auto" : theme.choice);
  await Promise.all([drawSpectrum(), drawCurves(), plane.running]);
  return { seconds };
}

const panelNamed = (name) => panels.find((one) => one.name === name) ?? (() => { throw new Error("no such panel"); })();

/** The rows of a trace of plotly, or of a buffer of the graphics card, as they are drawn. */
function readBack(name, space3) {
  const one = panelNamed(name);
  if (!space3) {
    const trace = plane.box.data[plane.drawn.indexOf(one)];
    return { one, x: trace.x, y: trace.y, rows: trace.selectedpoints ?? [] };
  }
  const { gl } = space;
  const held = space.held.get(one);
  if (!gl || !held) throw new Error("the panels of three dimensions are not open yet");
  const places3 = new Float32Array(3 * one.rows);
  const marks = new Uint8Array(one.rows);
  gl.bindBuffer(gl.ARRAY_BUFFER, held.place);
  gl.getBufferSubData(gl.ARRAY_BUFFER, 0, places3);
  gl.bindBuffer(gl.ARRAY_BUFFER, held.mark);
  gl.getBufferSubData(gl.ARRAY_BUFFER, 0, marks);
  return { one, places3, rows: Array.from(marks.keys()).filter((row) => marks[row] === 1) };
}

/** Samples of rows, each once, in order. */
const samplesOf = (one, rows) => [...new Set(rows.map((row) => one.sample(row)))].sort((a, b) => a - b);

// For tests, and for those who want more than the page offers.
window.viewhop = {
  /** Resolves once everything is drawn, with the seconds until the embeddings were. */
  ready: start(),
  panels: report.panels.list.map(({ name }) => name),
  columns: report.columns.map(({ name, family, kind }) => ({ name, family, kind })),
  /** Set the diffusion time; resolves once it is drawn. */
  setTime,
  setColour,
  setTheme,
  get time() { return state.time; },
  /** Points [x, y] of a panel, as plotly holds them. */
  coordinates(name) {
    const { x, y } = readBack(name, false);
    return Array.from(x, (value, row) => [value, y[row]]);
  },
  /** Points [x, y, z] of a panel, as the graphics card holds them, times λ^t. */
  coordinates3d(name) {
    const { places3 } = readBack(name, true);
    const scale = state.axes.map((k) => factor(k, state.time));
    return Array.from({ length: places3.length / 3 }, (_, row) => scale.map((value, axis) => value * places3[3 * row + axis]));
  },
  /** Select samples by number from 0; resolves once all open panels show it. */
  async select(samples) {
    const mask = new Uint8Array(report.samples);
    for (const sample of samples) if (sample in mask) mask[sample] = 1;
    await choose(mask);
    await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
    space.gl?.finish();
  },
  /** Samples that a panel shows as selected, as plotly holds them. */
  selected(name) {
    const { one, rows } = readBack(name, false);
    return samplesOf(one, rows);
  },
  /** The same of a panel of three dimensions, as the graphics card holds them. */
  selected3d(name) {
    const { one, rows } = readBack(name, true);
    return samplesOf(one, rows);
  },
  /** Open the panels of three dimensions, which otherwise open when they come near the screen. */
  async open3d() {
    openSpace();
    await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
    space.gl?.finish();
    return Boolean(space.gl);
  },
  csv: selectionCsv,
};
window.viewhop.ready.catch((error) => {
  byId("failure").hidden = false;
  byId("failure").textContent = `The report could not be drawn: ${error.message}`;
  console.error(error);
});
