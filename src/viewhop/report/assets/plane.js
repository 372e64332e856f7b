// Plane: all panels of two dimensions as one plotly figure, so that they share their WebGL contexts.
// No text from the data goes there: plotly would read it as markup.

const plane = { box: null, places: [], dirty: new Set(), running: null, drawn: [] };

const axisName = (letter, k) => letter + (k ? k + 1 : "");
const isStrip = () => report.panels.kept === 1;

/** What is drawn of a panel along one axis at time t. */
function along(one, axis, t) {
  if (isStrip() && axis === 0) return { values: Float64Array.from({ length: one.rows }, (_, row) => one.sample(row) + 1), low: 1, high: report.samples };
  const k = state.axes[isStrip() ? 0 : axis];
  const scale = factor(k, t);
  const { values, low, high } = one.coordinate(k);
  const moved = new Float64Array(values.length);
  for (let row = 0; row < moved.length; row++) moved[row] = values[row] * scale;
  return { values: moved, low: low * scale, high: high * scale };
}

/** Ranges of both axes: everything is seen, and a unit is as long on one as on the other. */
function ranges(x, y, { w, h }) {
  const inner = { w: w - 46, h: h - 30 };
  const middle = ({ low, high }) => (low + high) / 2;
  const span = ({ low, high }) => Math.max(high - low, 1e-300) * 1.08;
  if (isStrip()) return [[x.low - 1, x.high + 1], [middle(y) - span(y) / 2, middle(y) + span(y) / 2]];
  const unit = Math.max(span(x) / inner.w, span(y) / inner.h);
  return [[middle(x) - unit * inner.w / 2, middle(x) + unit * inner.w / 2], [middle(y) - unit * inner.h / 2, middle(y) + unit * inner.h / 2]];
}

function rowColours(one, { table, level }) {
  if (table.length === 1) return table[0];
  return Array.from({ length: one.rows }, (_, row) => table[level(one.sample(row))]);
}

/** The rows of a panel that are selected; null if nothing is. */
function chosenRows(one) {
  if (!state.count) return null;
  const rows = [];
  for (let row = 0; row < one.rows; row++) if (state.chosen[one.sample(row)]) rows.push(row);
  return rows;
}

function axisStyle() {
  return {
    gridcolor: styled("--line"), zerolinecolor: styled("--line"), zerolinewidth: 1, linecolor: styled("--line"),
    tickfont: { size: 11, color: styled("--soft") }, ticks: "", nticks: 6, exponentformat: "power", fixedrange: false,
    title: { standoff: 4, font: { size: 12, color: styled("--soft") } }, automargin: false,
  };
}

/** The whole figure. */
function planeFigure() {
  const shown = visible();
  const width = byId("plane-stage").clientWidth;
  const { places, height } = grid(width, shown.length);
  plane.places = places;
  const paint = colouring();
  const layout = {
    width, height, margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, dragmode: state.tool === "none" ? false : state.tool,
    hovermode: "closest", paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: styled("--sans") },
    newselection: { line: { color: styled("--accent"), width: 1.5, dash: "solid" } }, activeselection: { opacity: 0 }, selections: [],
  };
  const traces = shown.map((one, k) => {
    const [x, y] = [along(one, 0, state.time), along(one, 1, state.time)];
    const { x: left, y: top, w, h } = places[k];
    const [across, up] = ranges(x, y, places[k]);
    const names = isStrip() ? ["sample", "coordinate 1"] : state.axes.map((a) => `coordinate ${a + 1}`);
    const style = axisStyle();
    layout[axisName("xaxis", k)] = { ...style, domain: [(left + 42) / width, (left + w - 4) / width], range: across, anchor: axisName("y", k), title: { ...style.title, text: names[0] } };
    layout[axisName("yaxis", k)] = {
      ...style, domain: [1 - (top + h - 28) / height, 1 - (top + 2) / height], range: up, anchor: axisName("x", k), title: { ...style.title, text: names[1] },
      ...(isStrip() ? {} : { scaleanchor: axisName("x", k), scaleratio: 1 }),
    };
    return {
      type: "scattergl", mode: "markers", x: x.values, y: y.values, xaxis: axisName("x", k), yaxis: axisName("y", k), hoverinfo: "none",
      marker: { size: pointSize(one.rows), color: rowColours(one, paint), opacity: 0.85, line: { width: 0 } },
      selectedpoints: chosenRows(one), selected: { marker: { opacity: 1 } }, unselected: { marker: { opacity: 0.07 } },
    };
  });
  return { traces, layout };
}

/** Draw what changed: "all", "points", "colours", "selection". Calls while drawing are joined. */
function drawPlane(...what) {
  what.forEach((one) => plane.dirty.add(one));
  plane.running ??= (async () => {
    try {
      while (plane.dirty.size) {
        const dirty = new Set(plane.dirty);
        plane.dirty.clear();
        await redraw(dirty);
        await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
      }
    } finally {
      plane.running = null;
    }
  })();
  return plane.running;
}

async function redraw(dirty) {
  const shown = visible();
  const every = shown.map((_, k) => k);
  if (dirty.has("all") || !plane.box) {
    const { traces, layout } = planeFigure();
    const settings = { displayModeBar: false, responsive: false, doubleClick: false, scrollZoom: false, showTips: false };
    plane.drawn = shown;
    byId("plane-stage").style.height = `${layout.height}px`;
    if (plane.box) await Plotly.react(plane.box, traces, layout, settings);
    else {
      await Plotly.newPlot("plane", traces, layout, settings);
      plane.box = byId("plane");
      listenToPlane();
    }
    caption(byId("plane-captions"), shown, plane.places);
    return;
  }
  const restyled = {};
  const relaid = {};
  if (dirty.has("points")) {
    const moved = shown.map((one) => [along(one, 0, state.time), along(one, 1, state.time)]);
    restyled.x = moved.map(([x]) => x.values);
    restyled.y = moved.map(([, y]) => y.values);
    moved.forEach(([x, y], k) => {
      const [across, up] = ranges(x, y, plane.places[k]);
      relaid[`${axisName("xaxis", k)}.range`] = across;
      relaid[`${axisName("yaxis", k)}.range`] = up;
      if (!isStrip()) {
        relaid[`${axisName("xaxis", k)}.title.text`] = `coordinate ${state.axes[0] + 1}`;
        relaid[`${axisName("yaxis", k)}.title.text`] = `coordinate ${state.axes[1] + 1}`;
      }
    });
  }
  if (dirty.has("colours")) {
    const paint = colouring();
    restyled["marker.color"] = shown.map((one) => rowColours(one, paint));
  }
  if (dirty.has("selection")) restyled.selectedpoints = shown.map(chosenRows);
  // The outline of a lasso belongs to one panel; what it chose is shown in all.
  if (plane.box.layout.selections?.length) relaid.selections = [];
  if (Object.keys(relaid).length) await Plotly.update(plane.box, restyled, relaid, every);
  else await Plotly.restyle(plane.box, restyled, every);
}

function listenToPlane() {
  plane.box.on("plotly_selected", (event) => {
    if (!event?.points) return;
    const mask = new Uint8Array(report.samples);
    for (const point of event.points) mask[plane.drawn[point.curveNumber].sample(point.pointNumber)] = 1;
    choose(mask);
  });
  plane.box.on("plotly_deselect", () => choose(null));
  plane.box.on("plotly_hover", ({ points, event }) => {
    const sample = plane.drawn[points[0].curveNumber].sample(points[0].pointNumber);
    tip(describe(sample), event.clientX, event.clientY);
  });
  plane.box.on("plotly_unhover", () => tip(""));
  plane.box.on("plotly_click", ({ points, event }) => {
    const sample = plane.drawn[points[0].curveNumber].sample(points[0].pointNumber);
    toggleSample(sample, event.shiftKey || event.ctrlKey || event.metaKey);
  });
}
