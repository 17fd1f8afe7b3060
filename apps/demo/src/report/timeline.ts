import type { Mark, ScenePicture, Span } from "./spans.js";

const width = 1_080;
const nameWidth = 120;
const rowHeight = 26;
const barHeight = 14;
const headHeight = 54;
const axisHeight = 13;
const panelGap = 22;
const margin = 20;
const chartWidth = width - 2 * margin - nameWidth;
const ink = "#455a64";

const fills: Record<Span["ending"], string> = {
  ran: "#2e7d32",
  failed: "#ef6c00",
  lost: "#6a1b9a",
  killed: "#c62828",
};
const marks: Record<Mark["kind"], { readonly fill: string; readonly says: string }> = {
  skipped: { fill: "#90a4ae", says: "skipped: refused, at once" },
  error: { fill: "#c62828", says: "error: could not be asked" },
};

/** An SVG with a panel for each scene: replicas and graphs downwards, time to the right. */
export function timelineSvg(scenes: readonly ScenePicture[]): string {
  const parts = [legend()];
  let y = margin + 34;
  for (const scene of scenes) {
    const panel = panelOf(scene, y);
    parts.push(panel.svg);
    y += panel.height + panelGap;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" font-family="system-ui, sans-serif" font-size="12">
<title>Who ran which graph, and when</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join("\n")}
</svg>
`;
}

function legend(): string {
  const entries = [
    ...Object.entries(fills).map(([says, fill]) => ({ says, shape: bar(0, margin, 22, fill) })),
    ...Object.entries(marks).map(([kind, { fill, says }]) => ({
      says,
      shape: kind === "error" ? cross(11, margin + 7, fill) : diamond(11, margin + 7, fill),
    })),
  ];
  let x = margin;
  const drawn = entries.map(({ says, shape }) => {
    const entry = `<g transform="translate(${x} 0)">${shape}${words(28, margin + 11, says)}</g>`;
    x += 48 + says.length * 7;
    return entry;
  });
  return drawn.join("\n");
}

function panelOf(scene: ScenePicture, top: number): { svg: string; height: number } {
  const head = [
    words(margin, top + 16, scene.name, 'font-weight="bold" font-size="14"'),
    words(margin, top + 34, scene.title, `fill="${ink}"`),
  ];
  const rows = rowsOf(scene);
  if (rows.length === 0) {
    const empty = "nobody was granted anything, and nobody was refused";
    head.push(words(margin, top + headHeight + 11, empty, `fill="${ink}"`));
    return { svg: head.join("\n"), height: headHeight + axisHeight };
  }

  const { firstMs, lastMs } = extentOf(scene);
  const xOf = (ms: number) =>
    margin + nameWidth + (chartWidth * (ms - firstMs)) / (lastMs - firstMs);
  const yOf = (row: Row) =>
    top + headHeight + rows.findIndex((one) => isSame(one, row)) * rowHeight;
  const names = rows.map(
    (row) =>
      words(margin, yOf(row) + 11, row.replica) +
      words(margin, yOf(row) + 21, row.graph, `font-size="8" fill="${ink}"`),
  );
  const spans = scene.spans.map((span) => spanOf(span, xOf, yOf(span)));
  const points = scene.marks.map((mark) => {
    const shape = mark.kind === "error" ? cross : diamond;
    const title = `${mark.replica}: ${mark.message}`;
    return shape(xOf(mark.atMs), yOf(mark) + barHeight / 2, marks[mark.kind].fill, title);
  });
  const bottom = top + headHeight + rows.length * rowHeight;
  const small = `font-size="10" fill="${ink}"`;
  const axis = [
    `<line x1="${xOf(firstMs)}" y1="${bottom}" x2="${xOf(lastMs)}" y2="${bottom}" stroke="#b0bec5"/>`,
    words(xOf(firstMs), bottom + axisHeight, `${(firstMs / 1_000).toFixed(3)} s`, small),
    words(
      xOf(lastMs),
      bottom + axisHeight,
      `+${(lastMs - firstMs).toFixed(0)} ms`,
      `${small} text-anchor="end"`,
    ),
  ];
  const svg = [...head, ...names, ...spans, ...points, ...axis].join("\n");
  return { svg, height: bottom + axisHeight - top };
}

/** What is not "ran" also says so in words, for those who cannot tell the colours apart. */
function spanOf(span: Span, xOf: (ms: number) => number, y: number): string {
  const { replica, graph, fromMs, toMs, ending } = span;
  const barWidth = Math.max(2, xOf(toMs) - xOf(fromMs));
  const title = `${replica} ${graph}: ${ending} after ${(toMs - fromMs).toFixed(1)} ms`;
  const drawn = bar(xOf(fromMs), y, barWidth, fills[ending], title);
  if (ending === "ran" || barWidth < 44) return drawn;
  const place = 'text-anchor="end" font-size="10" fill="#ffffff"';
  return drawn + words(xOf(toMs) - 3, y + 11, ending, place);
}

interface Row {
  readonly replica: string;
  readonly graph: string;
}

function isSame(a: Row, b: Row): boolean {
  return a.replica === b.replica && a.graph === b.graph;
}

function rowsOf(scene: ScenePicture): Row[] {
  const all: Row[] = [...scene.spans, ...scene.marks];
  return all
    .filter((row, index) => all.findIndex((one) => isSame(one, row)) === index)
    .sort(
      (a, b) =>
        a.replica.localeCompare(b.replica, "en", { numeric: true }) ||
        a.graph.localeCompare(b.graph, "en"),
    );
}

function extentOf({ spans, marks }: ScenePicture): { firstMs: number; lastMs: number } {
  const times = [...spans.flatMap((span) => [span.fromMs, span.toMs]), ...marks.map((m) => m.atMs)];
  const firstMs = Math.min(...times);
  return { firstMs, lastMs: Math.max(firstMs + 1, ...times) };
}

function bar(x: number, y: number, barWidth: number, fill: string, title = ""): string {
  return `<rect x="${round(x)}" y="${y}" width="${round(barWidth)}" height="${barHeight}" rx="3" fill="${fill}">${titled(title)}</rect>`;
}

function diamond(x: number, y: number, fill: string, title = ""): string {
  return `<path d="M${round(x)} ${round(y - 5)}l5 5l-5 5l-5 -5z" fill="${fill}">${titled(title)}</path>`;
}

function cross(x: number, y: number, fill: string, title = ""): string {
  return `<path d="M${round(x - 4)} ${round(y - 4)}l8 8m0 -8l-8 8" stroke="${fill}" stroke-width="2.5" fill="none">${titled(title)}</path>`;
}

function words(x: number, y: number, text: string, attributes = ""): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(text)}</text>`;
}

function titled(text: string): string {
  return text === "" ? "" : `<title>${escaped(text)}</title>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
