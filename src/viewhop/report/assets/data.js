// Data: the content of the page, as plain data and typed arrays.

const report = JSON.parse(byId("data").textContent);
const KINDS = { f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
let bytes = null;

/** Unpack all arrays: base64, then deflate. */
async function unpack() {
  const holder = byId("arrays");
  const text = holder.textContent;
  holder.textContent = "";
  const packed = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  bytes = new Uint8Array(await new Response(stream).arrayBuffer());
}

/** One array, stored as the first bytes of all values, then the second ones, and so on. */
function array({ type, length, start }) {
  if (type === "json") return JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + length)));
  const Kind = KINDS[type];
  const width = Kind.BYTES_PER_ELEMENT;
  if (width === 1) return bytes.subarray(start, start + length);
  const whole = new Uint8Array(length * width);
  for (let place = 0; place < width; place++) {
    const plane = start + place * length;
    for (let k = 0; k < length; k++) whole[k * width + place] = bytes[plane + k];
  }
  return new Kind(whole.buffer);
}

/** A panel: coordinates by row, the sample of each row, and how far the coordinates reach. */
function panel(plain) {
  const loaded = new Map();
  const coordinate = (k) => {
    if (!loaded.has(k)) {
      const values = array(plain.coordinates[k]);
      let low = Infinity, high = -Infinity;
      for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
      loaded.set(k, { values, low: values.length ? low : 0, high: values.length ? high : 0 });
    }
    return loaded.get(k);
  };
  const samples = plain.samples ? array(plain.samples) : null;
  return { ...plain, samples, coordinate, sample: samples ? (row) => samples[row] : (row) => row };
}

/** The map as a panel: positions by sample, stored as whole steps from the lowest. */
function mapPanel(plain) {
  const axes = plain.positions.map((place, axis) => {
    const values = Float32Array.from(array(place), (steps) => plain.low[axis] + steps * plain.step);
    let high = plain.low[axis];
    for (const value of values) if (value > high) high = value;
    return { values, low: plain.low[axis], high };
  });
  return { ...plain, coordinate: (axis) => axes[axis], sample: (row) => row };
}

/** The panels of all samples, then those of each piece. */
let panelSets = [];
let panels = [];
let map = null;
let ids = null;
const idOf = (sample) => (ids ? ids[sample] : String(sample + 1));

/** λ_k^t, the factor of coordinate k: of the piece that is shown, or of the whole walk. */
const factor = (k, t) => (report.panels.timed ? (report.panels.pieces[state.piece] ?? report.panels).eigenvalues[k] ** t : 1);

/** The state of the page. */
const state = {
  time: report.panels.time,
  axes: [0, 1, 2].map((k) => Math.min(k, report.panels.kept - 1)),
  colour: 0,
  chosen: new Uint8Array(report.samples),
  count: 0,
  tool: "lasso",
  /** The number of the piece that the panels show; −1 for all samples. */
  piece: report.panels.pieces.length ? 0 : -1,
  shown: report.panels.list.map(() => true),
};
const MOST_SHOWN = 12;
state.shown.fill(false, MOST_SHOWN);
const visible = () => panels.filter((_, l) => state.shown[l]);
/** The two-dimensional panels: the map first, then the views. */
const flat = () => (map ? [map, ...visible()] : visible());
