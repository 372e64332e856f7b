// Charts: the spectrum and the curves of the scales. No text from the data goes to plotly.

const QUIET = { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false };

/** The options of an axis for plotly. */
function axisStyle() {
  return {
    gridcolor: styled("--line"), zerolinecolor: styled("--line"), zerolinewidth: 1, linecolor: styled("--line"),
    tickfont: { size: 11, color: styled("--soft") }, ticks: "", exponentformat: "power",
    title: { standoff: 6, font: { size: 12, color: styled("--soft") } },
  };
}

function chartLayout(x, y, more = {}) {
  const style = axisStyle();
  return {
    margin: { l: 56, r: 12, t: 12, b: 46 }, showlegend: false, hovermode: "closest", dragmode: false,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: styled("--sans"), color: styled("--soft") },
    hoverlabel: { bgcolor: styled("--ink"), bordercolor: styled("--ink"), font: { color: styled("--paper"), family: styled("--sans"), size: 12 } },
    xaxis: { ...style, nticks: 10, title: { ...style.title, text: x } }, yaxis: { ...style, title: { ...style.title, text: y } }, ...more,
  };
}

/** The spectrum: λ_k, λ_k^t, and how many are in use. */
function drawSpectrum() {
  if (!window.Plotly) return Promise.resolve();
  const { eigenvalues, chosen } = report.spectrum;
  const order = eigenvalues.map((_, k) => k + 1);
  const used = order.map((k) => k <= chosen);
  const stems = (values) => ({ x: order.flatMap((k) => [k, k, null]), y: values.flatMap((v) => [0, v, null]) });
  const raised = eigenvalues.map((value) => value ** state.time);
  const accent = styled("--accent");
  const traces = [
    { type: "scatter", mode: "lines", ...stems(eigenvalues), line: { color: accent, width: 2 }, opacity: 0.35, hoverinfo: "skip" },
    { type: "scatter", mode: "markers", x: order, y: eigenvalues, marker: { size: 9, color: used.map((is) => (is ? accent : styled("--card"))), line: { color: accent, width: 1.6 } }, hovertemplate: "λ<sub>%{x}</sub> = %{y:.6g}<extra></extra>" },
  ];
  if (report.panels.timed) traces.push({ type: "scatter", mode: "markers", x: order, y: raised, marker: { size: 9, symbol: "diamond", color: palette()[1], line: { width: 0 } }, hovertemplate: "λ<sub>%{x}</sub><sup>t</sup> = %{y:.4g}<extra></extra>" });
  const line = { type: "line", xref: "x", yref: "paper", x0: chosen + 0.5, x1: chosen + 0.5, y0: 0, y1: 1, line: { color: styled("--soft"), width: 1.2, dash: "dash" } };
  const text = { xref: "x", yref: "paper", x: chosen + 0.5, y: 1, text: `r = ${chosen}`, showarrow: false, xanchor: "right", yanchor: "top", xshift: -5, font: { color: styled("--ink"), size: 13 } };
  const layout = chartLayout("k", report.panels.timed ? "λ (round), λ to the power t (diamond)" : "λ", { shapes: [line], annotations: [text] });
  layout.xaxis.showgrid = false;
  layout.xaxis.range = [0.4, eigenvalues.length + 0.9];
  layout.xaxis.dtick = eigenvalues.length > 14 ? undefined : 1;
  layout.yaxis.range = [0, 1.06];
  return Plotly.react("spectrum-chart", traces, layout, QUIET);
}

const DASHES = ["solid", "dash", "dot", "dashdot"];

/** log S over log σ of each view, with the scale in use. */
function drawCurves() {
  const drawn = report.curves.filter((curve) => !curve.precomputed && curve.logs.length);
  if (!drawn.length || !window.Plotly) return Promise.resolve();
  const colours = palette();
  const traces = drawn.flatMap((curve, k) => {
    const colour = colours[k % colours.length];
    const [low, middle, high] = curve.scale.map(Math.log10);
    const at = (x) => interpolated(curve.logs, curve.sums, x);
    const inside = curve.logs.filter((x) => x > low && x < high);
    const part = curve.local ? [low, ...inside, high] : [];
    return [
      { type: "scatter", mode: "lines", x: curve.logs, y: curve.sums, line: { color: colour, width: 2, dash: DASHES[Math.floor(k / colours.length) % 4] }, hovertemplate: "log σ %{x:.3f}<br>log S %{y:.3f}<extra></extra>" },
      { type: "scatter", mode: "lines", x: part, y: part.map(at), line: { color: colour, width: 8 }, opacity: 0.5, hoverinfo: "skip" },
      { type: "scatter", mode: "markers", x: [middle], y: [at(middle)], marker: { size: 12, color: colour, line: { color: styled("--card"), width: 2 } }, hovertemplate: `σ in use ${digits(10 ** middle)}<extra></extra>` },
    ];
  });
  return Plotly.react("curves-chart", traces, chartLayout("log₁₀ σ", "log₁₀ S"), QUIET);
}

function interpolated(xs, ys, x) {
  const k = Math.max(1, Math.min(xs.length - 1, xs.findIndex((value) => value >= x)));
  const share = (x - xs[k - 1]) / (xs[k] - xs[k - 1] || 1);
  return ys[k - 1] + share * (ys[k] - ys[k - 1]);
}
