// Page: the controls, and what each of them redraws.

const SLIDER = 1000;
const longest = Math.max(16, 4 * report.panels.time);
// Squares: short times, where most happens, get most of the slider.
const toTime = (place) => Number((longest * (place / SLIDER) ** 2).toPrecision(3));
const toPlace = (time) => Math.round(SLIDER * Math.sqrt(Math.min(1, time / longest)));

let resting = 0;

function setTime(time) {
  if (!Number.isFinite(time) || time < 0) return Promise.resolve();
  state.time = time;
  byId("time").value = toPlace(time);
  byId("time").setAttribute("aria-valuetext", `t = ${digits(time)}`);
  if (Number(byId("time-number").value) !== time) byId("time-number").value = String(time);
  refitViews();
  // The chart is slower than the points: it follows when the slider rests.
  clearTimeout(resting);
  resting = setTimeout(drawSpectrum, 150);
  return drawAll();
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

/** Show the samples of one piece in all panels but the map; −1 shows all. */
function setPiece(k) {
  state.piece = k;
  byId("piece").value = k;
  panels = panelSets[k + 1];
  refitViews();
  return drawAll();
}

/** Text whose parameters and options are code, which no line breaks. */
const inCode = (text) => text.split(/(--[a-z-]+|\b\w+=\w+|\b\w+_\w+)/).map((part, k) => (k % 2 ? make("code", {}, part) : part));

function listenToPieces() {
  const { pieces } = report.panels;
  if (report.pieces) {
    byId("pieces").hidden = false;
    byId("pieces").append(make("p", {}, report.pieces.text), make("p", {}, ...inCode(report.pieces.ways)));
  }
  if (!pieces.length) return;
  const list = byId("piece");
  byId("piece-field").hidden = false;
  list.append(...pieces.map(({ name }, k) => make("option", { value: k }, name)), make("option", { value: -1 }, "all samples"));
  list.value = state.piece;
  list.addEventListener("change", () => setPiece(Number(list.value)));
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
      refitViews();
      drawAll("points");
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
  return drawAll("colours");
}

function setTool(tool) {
  state.tool = tool;
  for (const button of byId("tools").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
  const canvas = byId("plane");
  canvas.style.touchAction = tool === "none" ? "auto" : "none";
  canvas.style.cursor = { pan: "move", none: "default" }[tool] ?? "crosshair";
}

function listenToTools() {
  // A finger that scrolls must not draw a lasso.
  setTool(matchMedia("(pointer: coarse)").matches ? "none" : "lasso");
  for (const button of byId("tools").querySelectorAll("button")) button.addEventListener("click", () => setTool(button.dataset.tool));
  byId("fit").addEventListener("click", () => { resetSpace(); resetPlane(); });
}

function listenToChooser() {
  if (panels.length <= 6) return;
  byId("chooser").append(...panels.map((one, l) => {
    const box = make("input", { type: "checkbox", checked: state.shown[l] });
    box.addEventListener("change", () => {
      state.shown[l] = box.checked;
      if (!state.shown.some(Boolean)) state.shown[l] = box.checked = true;
      drawAll();
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
  if (!plane.points) return Promise.resolve();
  showLegend();
  drawSpectrum();
  drawCurves();
  return drawAll("colours");
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
    waiting = setTimeout(() => drawAll(), 60);
  }).observe(byId("plane-stage"));
}

/** Redraw all open panels, with the parts that changed. */
const drawAll = (...parts) => Promise.all([plane.points.draw(...parts), drawSpace(...parts)]);

/** Run plotly, which is in the page as text: it takes a second, and only the charts need it. */
async function loadPlotly() {
  await nextFrame();
  // It comes last in the page, so that the points need not wait for it.
  if (document.readyState === "loading") await new Promise((done) => { document.addEventListener("DOMContentLoaded", done); });
  const held = byId("plotly");
  document.head.append(make("script", { text: held.textContent }));
  held.remove();
}

async function start() {
  setTheme("auto");
  showFacts();
  await unpack();
  panelSets = [report.panels, ...report.panels.pieces].map(({ list }) => list.map(panel));
  panels = panelSets[state.piece + 1];
  map = report.map ? mapPanel(report.map) : null;
  ids = report.ids ? array(report.ids) : null;
  byId("axis-2").hidden = !canDrawSpace();
  listenToPieces();
  listenToColour();
  listenToTime();
  listenToAxes();
  listenToTools();
  listenToChooser();
  listenToSelection();
  listenToTheme();
  showLegend();
  await openPlane();
  await nextFrame();
  const seconds = performance.now() / 1000;
  watchSpace();
  listenToWidth();
  // Everything below the first screen comes after it.
  showSpectrum();
  showCurves();
  showSimilarity();
  showMeaning();
  showAdvice();
  showGraphs();
  showMissing();
  showRun();
  await loadPlotly();
  setTheme(theme.choice);
  await Promise.all([drawSpectrum(), drawCurves()]);
  return { seconds };
}

const panelNamed = (name) => panels.find((one) => one.name === name) ?? (() => { throw new Error("no such panel"); })();

/** Points of a panel times λ^t, as the graphics card holds them and as they were last drawn. */
function pointsOf(points, one, width) {
  const { places: held, scale } = points.readBack(one);
  return Array.from({ length: held.length / 3 }, (_, row) => scale.slice(0, width).map((value, axis) => value * held[3 * row + axis]));
}

/** Samples that a panel shows as selected, in order, as the graphics card holds them. */
function selectedIn(points, one) {
  const samples = new Set(Array.from(points.readBack(one).rows, (row) => one.sample(row)));
  return [...samples].sort((a, b) => a - b);
}

/** Wait until the graphics card has drawn. */
function finish() {
  const pixel = new Uint8Array(4);
  for (const { gl } of [plane.points, space.points ?? {}]) gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
}

// For tests, and for scripts that need more than the page offers.
window.viewhop = {
  /** Resolves once everything is drawn, with the seconds until the embeddings were. */
  ready: start(),
  panels: report.panels.list.map(({ name }) => name),
  /** The map: its title, its points [x, y] as drawn, and samples shown as selected; null without one. */
  map: report.map && {
    title: report.map.name,
    coordinates: () => pointsOf(plane.points, map, 2),
    selected: () => selectedIn(plane.points, map),
  },
  columns: report.columns.map(({ name, family, kind }) => ({ name, family, kind })),
  /** Set the diffusion time; resolves once it is drawn. */
  setTime,
  setColour,
  setTheme,
  pieces: report.panels.pieces.map(({ name }) => name),
  /** Show one piece, by number from 0, or all samples with −1; resolves once it is drawn. */
  setPiece,
  get piece() { return state.piece; },
  get time() { return state.time; },
  /** Points [x, y] of a panel, as they are drawn. */
  coordinates: (name) => pointsOf(plane.points, panelNamed(name), 2),
  /** Points [x, y, z] of a three-dimensional panel, as they are drawn. */
  coordinates3d: (name) => pointsOf(space.points, panelNamed(name), 3),
  /** Select samples by number from 0; resolves once all open panels show it. */
  async select(samples) {
    const mask = new Uint8Array(report.samples);
    for (const sample of samples) if (sample in mask) mask[sample] = 1;
    await choose(mask);
    finish();
  },
  /** Samples that a panel shows as selected. */
  selected: (name) => selectedIn(plane.points, panelNamed(name)),
  /** The same in three dimensions. */
  selected3d: (name) => selectedIn(space.points, panelNamed(name)),
  /** Open the three-dimensional panels, which otherwise open when they come near the screen. */
  async open3d() {
    await openSpace();
    finish();
    return Boolean(space.points?.gl);
  },
  csv: selectionCsv,
};
window.viewhop.ready.catch((error) => {
  byId("failure").hidden = false;
  byId("failure").textContent = `The report could not be drawn: ${error.message}`;
  console.error(error);
});
