// Layout: the place of each panel, in pixels; the same in two and in three dimensions.

const CAPTION = 28;
const GAP = 22;

/** Rectangles of panels below their captions, and the height of all. With a map, it comes first. */
function grid(width, count, { square = false, leads = false } = {}) {
  let columns = width < 560 ? 1 : width < 860 ? 2 : 3;
  if (leads && columns > 1 && count > 2) return gridAroundMap(width, count, columns);
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

/** The same with a first panel two columns wide, and two rows high if others fit beside it. */
function gridAroundMap(width, count, columns) {
  const across = (width - GAP * (columns - 1)) / columns;
  const high = Math.round(Math.min(across * 0.94, 420));
  const rows = columns === 2 ? 1 : 2;
  const row = high + CAPTION + GAP;
  const tall = rows === 1 ? Math.round(Math.min(2 * across * 0.7, 560)) : 2 * row - CAPTION - GAP;
  const places = [{ x: 0, y: CAPTION, w: 2 * across + GAP, h: tall }];
  const below = tall + CAPTION + GAP;
  const beside = rows === 1 ? 0 : 2;
  for (let k = 0; k < count - 1; k++) {
    const [column, y] = k < beside ? [2, k * row] : [(k - beside) % columns, below + Math.floor((k - beside) / columns) * row];
    places.push({ x: column * (across + GAP), y: y + CAPTION, w: across, h: high });
  }
  return { places, height: below + Math.ceil(Math.max(0, count - 1 - beside) / columns) * row - GAP };
}

/** Write the names of the panels above them. */
function caption(box, shown, places) {
  box.replaceChildren(...shown.map((one, k) => {
    const { x, y, w } = places[k];
    const line = make("p", { title: one.name }, make("span", {}, one.name));
    const unplaced = one.unplaced ? `, ${whole(one.unplaced)} not observed` : "";
    const rows = one.rows + one.unplaced > one.total ? `${plural(one.rows, "row")} of ${plural(one.total - one.unplaced, "sample")}` : plural(one.rows, "sample");
    line.append(make("small", {}, `${rows}${unplaced}`));
    Object.assign(line.style, { left: `${x}px`, top: `${y - CAPTION}px`, maxWidth: `${w}px` });
    return line;
  }));
}

/** The size of a point among so many, in pixels. */
function pointSize(rows) {
  return rows > 50000 ? 2.4 : rows > 10000 ? 3.2 : rows > 2500 ? 4.2 : rows > 600 ? 5.5 : 7;
}
