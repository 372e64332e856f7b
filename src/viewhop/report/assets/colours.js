// Colours: groups on ten colours in four shapes, numbers on cividis; both are safe for colour-blind readers.

// Petroff, arXiv:2107.02270, as in the pictures of the library.
const PALETTE = ["#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"];
// The dark ones of these are hard to see on a dark ground.
const DARK_PALETTE = ["#5aa5ea", "#ffb733", "#e8492b", "#a9b8b6", "#b071dd", "#c58a79", "#ff8a3c", "#cdc084", "#8f94a3", "#a5e6e8"];
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
// As the shader numbers them, each for ten groups.
const SHAPES = ["disc", "square", "triangle", "cross"];
const LEVELS = 64;
const MISSING_LEVEL = 255;

const isDark = () => document.documentElement.dataset.theme === "dark";
const palette = () => (isDark() ? DARK_PALETTE : PALETTE);
const missingColour = () => (isDark() ? "#4a515b" : "#cfccc5");
const otherColour = () => (isDark() ? "#6d7580" : "#a8a49b");
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** The colour at a share from 0 to 1 of the scale of numbers. */
function ramp(share) {
  const place = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const [a, b] = [rgb(CIVIDIS[low]), rgb(CIVIDIS[low + 1])];
  const mixed = a.map((value, k) => Math.round(value + (b[k] - value) * (place - low)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const columns = report.columns.map((column) => ({ ...column, array: null }));
const PLAIN = { kind: "plain", name: "one colour", family: "" };
const columnNow = () => columns[state.colour] ?? PLAIN;
const levelsOf = (column) => (column.array ??= array(column.values));

/** Places of groups, colours first and then shapes: all of them, or the forty largest, by name. */
function ranked(column) {
  if (!column.own) {
    const order = column.groups.map((_, k) => k).sort((a, b) => column.counts[b] - column.counts[a] || a - b);
    const own = order.slice(0, PALETTE.length * SHAPES.length).sort((a, b) => a - b);
    column.own = new Map(own.map((group, place) => [group, place]));
  }
  return column.own;
}

function groupColour(column, group) {
  if (group >= column.groups.length) return missingColour();
  const place = ranked(column).get(group);
  return place === undefined ? otherColour() : palette()[place % PALETTE.length];
}

/** The number of a group's shape. */
function groupShape(column, group) {
  const place = group < column.groups.length ? ranked(column).get(group) : undefined;
  return place === undefined ? 0 : Math.floor(place / PALETTE.length);
}

/** The colour and shape of every level of a column, and the level of every sample. */
function colouring() {
  const column = columnNow();
  if (column.kind === "plain") return { table: [palette()[0]], shapes: [0], level: () => 0 };
  const values = levelsOf(column);
  if (column.kind === "groups") {
    const table = Array.from({ length: column.groups.length + 1 }, (_, k) => groupColour(column, k));
    const shapes = table.map((_, k) => groupShape(column, k));
    return { table, shapes, level: (sample) => values[sample] };
  }
  const table = Array.from({ length: LEVELS }, (_, k) => ramp(k / (LEVELS - 1)));
  table.push(missingColour());
  const missing = LEVELS;
  const shapes = table.map(() => 0);
  return { table, shapes, level: (sample) => (values[sample] === MISSING_LEVEL ? missing : (values[sample] * LEVELS / MISSING_LEVEL) | 0) };
}

/** The value of a sample in a column, as text. */
function valueText(column, sample) {
  if (column.kind === "plain") return "";
  const value = levelsOf(column)[sample];
  if (column.kind === "groups") return value < column.groups.length ? column.groups[value] : "missing";
  if (value === MISSING_LEVEL) return "missing";
  return `${value === 0 ? "≤ " : value === 254 ? "≥ " : "≈ "}${digits(column.low + (column.high - column.low) * value / 254)}`;
}

/** The list of colours; the button of a group selects it. */
function showLegend() {
  const column = columnNow();
  const box = byId("legend");
  box.replaceChildren();
  if (column.kind === "groups") {
    for (const group of ranked(column).keys()) {
      const name = column.groups[group];
      const dot = make("span", { className: "dot", attributes: { "aria-hidden": "true" } });
      dot.style.background = groupColour(column, group);
      dot.dataset.shape = SHAPES[groupShape(column, group)];
      box.append(make("button", { type: "button", title: `Select ${name}`, onclick: () => toggleGroup(group), attributes: { "aria-pressed": "false", "data-group": group } },
        dot, make("span", {}, name === "" ? "(empty)" : name), make("small", {}, whole(column.counts[group]))));
    }
    const missing = column.counts[column.groups.length];
    if (missing) box.append(swatch(missingColour(), `missing (${whole(missing)})`));
    const marks = PALETTE.length * SHAPES.length;
    if (column.groups.length > marks) {
      box.append(make("p", {}, `${whole(column.groups.length)} groups, ten colours in four shapes: the ${marks} largest have a mark of their own, the others share a grey. Type the name of a group below to see it.`));
    }
  } else if (column.kind === "numbers") {
    const bar = make("canvas", { width: 180, height: 1, attributes: { "aria-hidden": "true" } });
    const pen = bar.getContext("2d");
    for (let x = 0; x < 180; x++) {
      pen.fillStyle = ramp(x / 179);
      pen.fillRect(x, 0, 1, 1);
    }
    const beyond = column.least < column.low || column.most > column.high;
    box.append(make("span", { className: "ramp" }, digits(column.low), bar, digits(column.high)));
    if (column.missing) box.append(swatch(missingColour(), `missing (${whole(column.missing)})`));
    if (beyond) box.append(make("p", {}, `From ${digits(column.least)} to ${digits(column.most)}; values beyond the first and last percentile have the colour of the nearest end.`));
  }
  markLegend();
}

function swatch(colour, text) {
  const dot = make("span", { className: "dot", attributes: { "aria-hidden": "true" } });
  dot.style.background = colour;
  return make("span", { className: "ramp" }, dot, text);
}
