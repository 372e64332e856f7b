// Tables: everything that is text and numbers.

/** A table of texts; columns of numbers are aligned to the right. */
function table(head, rows, { numbers = [], caption: text = "" } = {}) {
  const right = (k) => (numbers.includes(k) ? "number" : "");
  const top = make("tr", {}, ...head.map((name, k) => make("th", { scope: "col", className: right(k) }, name)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, k) => (
    k === 0 ? make("th", { scope: "row" }, cell) : make("td", { className: right(k) }, cell)))));
  const parts = [make("thead", {}, top), make("tbody", {}, ...body)];
  return make("table", {}, ...(text ? [make("caption", {}, text)] : []), ...parts);
}

const note = (text) => make("p", { className: "note" }, text);
const word = (text) => make("p", { className: "word" }, text);

function showFacts() {
  const { panels: shown, graphs } = report;
  const facts = [["samples", whole(report.samples)], ["views", whole(report.views.length)], ["coordinates", whole(report.spectrum.chosen)]];
  if (shown.timed) facts.push(["diffusion time", digits(shown.time)]);
  facts.push(["fusion", report.fusion], ["pieces of the walk", whole(graphs.pieces)], ["complete samples", `${Math.floor(100 * report.missing.complete / report.samples)} %`]);
  byId("facts").append(...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  byId("kind").textContent = `viewhop report · ${report.kind}`;
  byId("foot").textContent = `Created by viewhop ${report.version}. This file is self-contained and loads nothing.`;
  byId("embedding-notes").append(...[report.map_note, ...shown.notes, ...report.notes].filter(Boolean).map(note));
}

function showSpectrum() {
  const { eigenvalues, chosen, largest_residual: residual, solver } = report.spectrum;
  const more = eigenvalues.length > chosen ? ` The first ${whole(chosen)} of ${whole(eigenvalues.length)} computed eigenvalues are in use.` : " No others were computed.";
  byId("spectrum-lead").textContent = `Eigenvalues of the walk, without the trivial λ₀ = 1; r = ${whole(chosen)} coordinates.${more} Solver ${solver}, largest residual ${digits(residual)}. Coordinate k is multiplied by λ to the power t, so a longer time keeps only the slowest.`;
  byId("spectrum-table").append(table(["k", "eigenvalue", "in use"], eigenvalues.map((value, k) => [k + 1, digits(value), k < chosen ? "yes" : "no"]), { numbers: [1] }));
}

function showCurves() {
  const drawn = report.curves.filter((curve) => !curve.precomputed && curve.logs.length);
  byId("curves-legend").append(...drawn.map((curve, k) => {
    const line = draw("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 3, "data-colour": k % PALETTE.length, "stroke-dasharray": ["", "7 3", "2 3", "7 3 2 3"][Math.floor(k / PALETTE.length) % 4] });
    return make("span", {}, draw("svg", { width: 26, height: 10, "aria-hidden": "true" }, line), curve.name);
  }));
  const rows = report.curves.map((curve) => {
    if (curve.precomputed) return [curve.name, "no distances: no scale", "–", "–", "–"];
    const [low, middle, high] = curve.scale;
    const scale = curve.local ? `${digits(middle)} (${digits(low)} to ${digits(high)})` : digits(middle);
    const slope = curve.logs.length ? interpolated(curve.logs, curve.slopes, Math.log10(middle)) : NaN;
    return [curve.name, `${curve.kernel}, ${curve.metric}`, curve.rule, scale, digits(slope)];
  });
  byId("curves-table").append(table(["view", "kernel", "rule", "σ in use", "slope there"], rows, { numbers: [3, 4] }));
  if (!drawn.length) {
    byId("curves-chart").parentElement.hidden = true;
    byId("curves-table").prepend(note("No view has distances (its kernel is precomputed, or of your own), so there are no curves."));
  }
}

function showSimilarity() {
  const { values, why } = report.similarity;
  const box = byId("similarity-table");
  if (!values) {
    box.append(note(why));
    return;
  }
  const cells = values.map((row) => row.map((value) => {
    if (value === null) return make("td", { className: "unknown", title: "no sample in common" }, "–");
    const cell = make("td", {}, (Math.round(100 * value) / 100 + 0).toFixed(2).replace("-", "−"));
    const colour = ramp(value);
    const [r, g, b] = rgb(colour).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    cell.style.background = colour;
    // Black or white, whichever has more contrast with the cell.
    cell.style.color = (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
    return cell;
  }));
  const head = make("tr", {}, make("td", {}), ...report.views.map((name) => make("th", { scope: "col", title: name }, name)));
  const body = cells.map((row, l) => make("tr", {}, make("th", { scope: "row", title: report.views[l] }, report.views[l]), ...row));
  box.append(make("table", { className: "matrix" }, make("thead", {}, head), make("tbody", {}, ...body)));
}

/** The mean rank of a feature in bins along a coordinate, as bars around the middle. */
function profileBars(profile, label) {
  const bars = profile.map((mean, k) => draw("rect", { x: k + 0.08, width: 0.84, y: 20 - 20 * Math.max(2 * mean - 1, 0), height: Math.max(20 * Math.abs(2 * mean - 1), 0.6) }));
  return draw("svg", { class: "bars profile", viewBox: `0 0 ${profile.length} 40`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...bars);
}

function showMeaning() {
  const { meaning } = report;
  if (!meaning) {
    byId("meaning").hidden = true;
    byId("meaning-link").hidden = true;
    return;
  }
  const { rows, samples, columns, total, skipped } = meaning;
  const some = columns < total ? ` The first ${whole(columns)} of ${whole(total)} columns of the embedding are shown.` : "";
  const drawn = samples < report.samples ? ` From ${whole(samples)} samples, drawn at random.` : "";
  byId("meaning-lead").textContent = `The features that change most along each coordinate. The strength, from 0 to 1, counts every shape; the correlation is Spearman’s. Bars show the mean rank of the feature in ten groups of samples along the coordinate. Features are looked at one by one: this describes, and does not explain what causes what.${drawn}${some}`;
  byId("meaning-table").before(...skipped.map((text) => note(`Left out: ${text}.`)));
  if (!rows.length) {
    byId("meaning-table").append(note("No feature changes along any coordinate."));
    return;
  }
  const signed = (value) => value.toFixed(2).replace("-", "−");
  byId("meaning-table").append(table(["coordinate", "view", "feature", "strength", "correlation", "shape", "along it"], rows.map((row) => [
    row.coordinate, row.view, row.feature, row.strength.toFixed(2), signed(row.correlation), row.shape,
    profileBars(row.profile, `${row.shape} from ${signed(row.profile[0])} to ${signed(row.profile[row.profile.length - 1])}`),
  ]), { numbers: [3, 4] }));
}

function showGraphs() {
  const { pieces, sizes, words, views } = report.graphs;
  byId("graphs-lead").textContent = pieces === 1 ? "The walk over all views is in one piece." : `The walk over all views is in ${whole(pieces)} pieces; the largest have ${sizes.map(whole).join(", ")} nodes.`;
  byId("graphs-words").append(...words.map(word));
  byId("graphs-cards").append(...views.map((view) => {
    const three = (values) => values.map(digits).join(" / ");
    const facts = [
      ["samples observed", `${whole(view.observed)} of ${whole(report.samples)}`],
      ["metric", view.metric],
      ...(view.weight === null || report.views.length < 2 ? [] : [["weight in the walk", digits(view.weight)]]),
      ["pairs in the kernel", view.held],
      ...(view.rows === view.observed ? [] : [["rows", whole(view.rows)]]),
      ...(view.pairs === undefined ? [] : [["stored pairs", whole(view.pairs)], ["neighbours, least / median / most", three(view.neighbours)]]),
      ["pieces of this view alone", whole(view.pieces)],
      ["recall of the search", `${(100 * view.recall).toFixed(view.recall === 1 ? 0 : 1)} %`],
      ["degree, least / median / most", three(view.degree)],
    ];
    const list = make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    return make("article", { className: "card" }, make("h3", {}, view.name), list, ...metricScores(view), ...degreeBars(view), ...view.words.map(word));
  }));
}

function metricScores(view) {
  if (view.scores.length < 2) return [];
  const scores = view.scores.map(([name, score]) => `${name} ${score.toFixed(2).replace("-", "−")}`);
  return [make("p", { className: "note" }, `Agreement with the other views, by metric: ${scores.join(", ")}.`)];
}

function degreeBars(view) {
  if (!view.bars) return [];
  const { counts, low, high } = view.bars;
  const most = Math.max(...counts);
  const bars = counts.map((count, k) => draw("rect", { x: k + 0.08, width: 0.84, y: 40 * (1 - count / most), height: 40 * count / most }));
  const label = `Histogram of degrees, on a logarithmic axis from ${digits(10 ** low)} to ${digits(10 ** high)}`;
  const picture = draw("svg", { class: "bars", viewBox: `0 0 ${counts.length} 40`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...bars);
  return [picture, make("div", { className: "ends" }, make("span", {}, digits(10 ** low)), make("span", {}, "degree, log scale"), make("span", {}, digits(10 ** high)))];
}

function showAdvice() {
  const { advice } = report;
  byId("advice-lead").textContent = advice.length ? "What was found in the views and in this fit. A warning needs a decision; a note explains a number." : "Nothing was found that needs attention.";
  if (!advice.length) return;
  const rows = advice.map(({ severity, view, kind, value, text }) => [severity, view, kind, value, text]);
  byId("advice-table").append(table(["", "view", "finding", "number", ""], rows, { numbers: [3] }));
}

function showMissing() {
  const { complete, observed, patterns, others, repeated } = report.missing;
  const n = report.samples;
  const lead = complete === n ? `Every view observed all ${whole(n)} samples.` : `${whole(complete)} of ${whole(n)} samples were observed by every view. Nothing is imputed: a view has no point for a sample that it did not observe.`;
  const several = repeated.length ? ` Views with several rows per sample: ${repeated.join(", ")}.` : "";
  byId("missing-lead").textContent = lead + several;
  if (complete === n) return;
  const dot = (seen) => {
    const mark = make("span", { className: seen ? "seen" : "unseen" });
    return make("td", {}, mark, make("span", { className: "hidden" }, seen ? "observed" : "not observed"));
  };
  const bar = (count) => {
    const mark = make("span", { className: "share" });
    mark.style.width = `${90 * count / n}%`;
    return make("td", { className: "bar-cell" }, mark);
  };
  const head = make("tr", {}, ...report.views.map((name) => make("th", { scope: "col" }, name)), make("th", { scope: "col", className: "number" }, "samples"), make("td", {}));
  const rows = patterns.map(({ views, count }) => make("tr", {}, ...views.map(dot), make("td", { className: "number" }, whole(count)), bar(count)));
  if (others) rows.push(make("tr", {}, make("td", { colSpan: report.views.length }, "other combinations"), make("td", { className: "number" }, whole(others)), bar(others)));
  const total = make("tr", {}, ...observed.map((count) => make("td", {}, `${whole(count)} observed`)), make("td", { className: "number" }, whole(n)), make("td", {}));
  byId("missing-table").append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows), make("tfoot", {}, total)));
}

function showRun() {
  if (report.about.length) byId("about-table").append(table(["", ""], report.about));
  if (!report.repeat) return;
  byId("repeat-block").hidden = false;
  byId("repeat").textContent = report.repeat;
  byId("copy-repeat").addEventListener("click", (event) => copied(event.currentTarget, report.repeat));
}
