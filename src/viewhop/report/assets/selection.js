// Selection: samples chosen in one panel, by name or by group, shown in all.

const LISTED = 50;

/** Select the samples of a mask, or none; every panel shows the selection. */
function choose(mask) {
  state.chosen = mask ?? new Uint8Array(report.samples);
  state.count = 0;
  for (const is of state.chosen) state.count += is;
  showSelection();
  return drawAll("selection");
}

function toggleSample(sample, keeps) {
  const mask = keeps ? state.chosen.slice() : new Uint8Array(report.samples);
  mask[sample] = keeps ? 1 - mask[sample] : 1;
  return choose(mask);
}

/** Add a group to the selection, or remove it if all of it is selected. */
function toggleGroup(group) {
  const column = columnNow();
  const values = levelsOf(column);
  const mask = state.chosen.slice();
  const off = chosenOf(column)[group] === column.counts[group] ? 0 : 1;
  for (let sample = 0; sample < mask.length; sample++) if (values[sample] === group) mask[sample] = off;
  return choose(mask);
}

function chosenOf(column) {
  const counts = new Uint32Array(column.groups.length + 1);
  const values = levelsOf(column);
  if (state.count) for (let sample = 0; sample < values.length; sample++) counts[values[sample]] += state.chosen[sample];
  return counts;
}

function markLegend() {
  const column = columnNow();
  if (column.kind !== "groups") return;
  const chosen = chosenOf(column);
  for (const button of byId("legend").querySelectorAll("button")) {
    const group = Number(button.dataset.group);
    button.setAttribute("aria-pressed", String(column.counts[group] > 0 && chosen[group] === column.counts[group]));
  }
}

function chosenSamples(most = Infinity) {
  const samples = [];
  for (let sample = 0; sample < report.samples && samples.length < most; sample++) if (state.chosen[sample]) samples.push(sample);
  return samples;
}

/** The text of the tooltip of a sample. */
function describe(sample) {
  const lines = [idOf(sample)];
  const shown = new Set([columnNow(), ...columns.filter((column) => column.kind === "groups")]);
  for (const column of shown) if (column.kind !== "plain") lines.push(`${column.family.startsWith("features") || column.family === "disagreement" ? `${column.family}, ` : ""}${column.name}: ${valueText(column, sample)}`);
  return lines.join("\n");
}

function showSelection() {
  const { count } = state;
  byId("count").textContent = count ? `${plural(count, "sample")} selected, ${(100 * count / report.samples).toFixed(1)} %` : "Nothing selected";
  for (const id of ["clear", "copy", "download"]) byId(id).disabled = !count;
  markLegend();
  const box = byId("selected-table");
  box.replaceChildren();
  box.tabIndex = count ? 0 : -1;
  if (!count) return;
  const kept = columns.filter((column) => column.kind === "groups" || (column === columnNow()) || (column.family === "disagreement" && column.name === "largest over all views"));
  const head = ["id", ...kept.map((column) => (column.family === "disagreement" ? `disagreement, ${column.name}` : column.name))];
  const rows = chosenSamples(LISTED).map((sample) => [idOf(sample), ...kept.map((column) => valueText(column, sample))]);
  box.append(table(head, rows, { caption: count > LISTED ? `The first ${LISTED} of ${whole(count)}` : "" }));
}

/** A CSV cell protected against formula injection; numbers are unchanged. */
function cell(text, numeric = false) {
  const guarded = !numeric && /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

function selectionCsv() {
  const kept = columns.filter((column) => column.kind === "groups");
  const lines = [["id", ...kept.map((column) => column.name)].map((text) => cell(text)).join(",")];
  for (const sample of chosenSamples()) {
    const values = kept.map((column) => cell(column.groups[levelsOf(column)[sample]] ?? "", column.numeric));
    lines.push([cell(idOf(sample)), ...values].join(","));
  }
  return `${lines.join("\n")}\n`;
}

function download() {
  const address = URL.createObjectURL(new Blob([selectionCsv()], { type: "text/csv" }));
  make("a", { href: address, download: "selected.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

let places = null;

/** Add the samples of the first group that has a name, if there is one. */
function addGroup(mask, name) {
  for (const column of columns) {
    const group = column.kind === "groups" ? column.groups.indexOf(name) : -1;
    if (group < 0) continue;
    levelsOf(column).forEach((value, sample) => { if (value === group) mask[sample] = 1; });
    return true;
  }
  return false;
}

/** Add the samples that are named, and those of the chosen group. */
function find() {
  const text = byId("find").value.trim();
  const asked = byId("group").value;
  const mask = state.chosen.slice();
  const unknown = [];
  if (text) {
    if (!places) {
      places = new Map();
      for (let sample = 0; sample < report.samples; sample++) places.set(idOf(sample), [...(places.get(idOf(sample)) ?? []), sample]);
    }
    // An id may contain a comma: try the whole text first.
    for (const name of places.has(text) ? [text] : text.split(",").map((part) => part.trim()).filter(Boolean)) {
      if (places.has(name)) places.get(name).forEach((sample) => { mask[sample] = 1; });
      else if (!addGroup(mask, name)) unknown.push(name);
    }
  }
  if (asked) {
    const [column, group] = asked.split(":").map(Number);
    levelsOf(columns[column]).forEach((value, sample) => { if (value === group) mask[sample] = 1; });
  }
  byId("find-note").textContent = unknown.length ? `No sample or group is named ${unknown.slice(0, 5).join(", ")}.` : "";
  return choose(mask);
}

function listenToSelection() {
  const list = byId("group");
  const grouped = columns.map((column, k) => [column, k]).filter(([column]) => column.kind === "groups");
  byId("group-field").hidden = !grouped.length;
  list.append(make("option", { value: "" }, "–"), ...grouped.map(([column, k]) => make("optgroup", { label: column.name },
    ...[...ranked(column).keys()].map((group) => make("option", { value: `${k}:${group}` }, `${column.groups[group]} (${whole(column.counts[group])})`)))));
  byId("find-go").addEventListener("click", find);
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
  byId("clear").addEventListener("click", () => choose(null));
  byId("copy").addEventListener("click", (event) => copied(event.currentTarget, chosenSamples().map(idOf).join("\n")));
  byId("download").addEventListener("click", download);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !state.count) return;
    list.value = "";
    choose(null);
  });
}
