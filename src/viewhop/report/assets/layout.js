// Layout: the place of each panel, in pixels; the same in two and in three dimensions.

const CAPTION = 28;
const GAP = 22;

/** Rectangles of panels below their captions, and the height of all. */
function grid(width, count, { square = false } = {}) {
  let columns = width < 560 ? 1 : width < 860 ? 2 : 3;
  if (width >= 860 && count === 4) columns = 2;
  columns = Math.min(columns, count);
  const across = (width - GAP * (columns - 1)) / columns;
  const wide = Math.min(across, 720);
  const high = Math.round(Math.min(square ? wide : wide * 0.94, columns === 1 ? 460 : 420));
  const places = Array.from({ length: count }, (_, k) => ({
    x: (k % columns) * (across + GAP),
    y: Math.floor(k / columns) * (high + CAPTION + GAP) + CAPTION,
    w: wide,
    h: high,
  }));
  return { places, height: Math.ceil(count / columns) * (high + CAPTION + GAP) - GAP };
}

/** Write the names of the panels above them. */
function caption(box, shown, places) {
  box.replaceChildren(...shown.map((one, k) => {
    const { x, y, w } = places[k];
    const line = make("p", { title: one.name }, make("span", {}, one.name));
    const unplaced = one.unplaced ? `, ${whole(one.unplaced)} not observed` : "";
    const rows = one.rows + one.unplaced > report.samples ? `${plural(one.rows, "row")} of ${plural(report.samples - one.unplaced, "sample")}` : plural(one.rows, "sample");
    line.append(make("small", {}, `${rows}${unplaced}`));
    Object.assign(line.style, { left: `${x}px`, top: `${y - CAPTION}px`, maxWidth: `${w}px` });
    return line;
  }));
}

/** The size of a point among so many, in pixels. */
function pointSize(rows) {
  return rows > 50000 ? 2.4 : rows > 10000 ? 3.2 : rows > 2500 ? 4.2 : rows > 600 ? 5.5 : 7;
}
