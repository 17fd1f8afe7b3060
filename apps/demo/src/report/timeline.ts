import type { ScenePicture, Span } from "./spans.js";

const width = 1_080;
const nameWidth = 120;
const rowHeight = 26;
const barHeight = 14;
const headHeight = 54;
const panelGap = 22;
const margin = 20;
const chartWidth = width - 2 * margin - nameWidth;

/** Told apart by shape and words too, for those who do not see the colours. */
const looks: Record<Span["ending"], { readonly fill: string; readonly says: string }> = {
  ran: { fill: "#2e7d32", says: "ran" },
  failed: { fill: "#ef6c00", says: "failed" },
  lost: { fill: "#6a1b9a", says: "lost" },
  killed: { fill: "#c62828", says: "killed" },
};

/** An SVG with a panel for each scene: replicas and graphs downwards, time to the right. */
export function timelineSvg(scenes: readonly ScenePicture[]): string {
  const parts: string[] = [];
  let y = margin + 34;
  for (const scene of scenes) {
    const panel = panelOf(scene, y);
    parts.push(panel.svg);
    y += panel.height + panelGap;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" font-family="system-ui, sans-serif" font-size="12">
<title>Who ran which graph, and when</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${legend()}
${parts.join("\n")}
</svg>
`;
}

function legend(): string {
  const entries = Object.values(looks).map(
    ({ fill, says }, index) =>
      `<rect x="${margin + index * 90}" y="${margin}" width="22" height="${barHeight}" rx="3" fill="${fill}"/><text x="${margin + 28 + index * 90}" y="${margin + 11}">${says}</text>`,
  );
  const x = margin + entries.length * 90;
  return `${entries.join("\n")}
<path d="${diamond(x + 8, margin + 7)}" fill="#90a4ae"/><text x="${x + 20}" y="${margin + 11}">skipped: refused, at once</text>`;
}

function panelOf(scene: ScenePicture, top: number): { svg: string; height: number } {
  const { fromMs, spans, refused } = scene;
  const rows = rowsOf(scene);
  const lastMs = Math.max(
    fromMs + 1,
    ...spans.map(({ toMs }) => toMs),
    ...refused.map(({ atMs }) => atMs),
  );
  const firstMs = Math.min(
    lastMs - 1,
    ...spans.map((span) => span.fromMs),
    ...refused.map(({ atMs }) => atMs),
  );
  const x = (ms: number) => margin + nameWidth + (chartWidth * (ms - firstMs)) / (lastMs - firstMs);
  const yOf = (row: Row) =>
    top + headHeight + rows.findIndex((one) => keyOf(one) === keyOf(row)) * rowHeight;
  const bottom = top + headHeight + rows.length * rowHeight;

  const names = rows.map(
    (row) =>
      `<text x="${margin}" y="${yOf(row) + 11}">${escaped(row.replica)}</text><text x="${margin}" y="${yOf(row) + 21}" font-size="8" fill="#607d8b">${escaped(row.graph)}</text>`,
  );
  const bars = spans.map((span) => {
    const barWidth = Math.max(2, x(span.toMs) - x(span.fromMs));
    const { fill, says } = looks[span.ending];
    const label = `${span.replica} ${span.graph}: ${says} after ${(span.toMs - span.fromMs).toFixed(1)} ms`;
    const end =
      span.ending === "ran"
        ? ""
        : `<text x="${x(span.toMs) - 3}" y="${yOf(span) + 11}" text-anchor="end" font-size="10" fill="#ffffff">${barWidth > 44 ? says : ""}</text>`;
    return `<rect x="${round(x(span.fromMs))}" y="${yOf(span)}" width="${round(barWidth)}" height="${barHeight}" rx="3" fill="${fill}"><title>${escaped(label)}</title></rect>${end}`;
  });
  const marks = refused.map(
    (one) =>
      `<path d="${diamond(x(one.atMs), yOf(one) + barHeight / 2)}" fill="#90a4ae"><title>${escaped(`${one.replica}: ${one.message}`)}</title></path>`,
  );
  const nobody = `<text x="${margin}" y="${top + headHeight + 11}" fill="#607d8b">nobody was granted anything, and nobody was refused</text>`;
  const axis = `<line x1="${x(firstMs)}" y1="${bottom}" x2="${x(lastMs)}" y2="${bottom}" stroke="#b0bec5"/>
<text x="${x(firstMs)}" y="${bottom + 13}" font-size="10" fill="#607d8b">${(firstMs / 1_000).toFixed(3)} s</text>
<text x="${x(lastMs)}" y="${bottom + 13}" font-size="10" fill="#607d8b" text-anchor="end">+${(lastMs - firstMs).toFixed(0)} ms</text>`;
  const head = `<text x="${margin}" y="${top + 16}" font-weight="bold" font-size="14">${escaped(scene.name)}</text>
<text x="${margin}" y="${top + 34}" fill="#455a64">${escaped(scene.title)}</text>`;
  if (rows.length === 0) return { svg: [head, nobody].join("\n"), height: headHeight + 13 };
  return { svg: [head, ...names, ...bars, ...marks, axis].join("\n"), height: bottom + 13 - top };
}

interface Row {
  readonly replica: string;
  readonly graph: string;
}

function keyOf({ replica, graph }: Row): string {
  return `${replica} ${graph}`;
}

function rowsOf({ spans, refused }: ScenePicture): Row[] {
  const rows = new Map<string, Row>();
  for (const { replica, graph } of [...spans, ...refused])
    rows.set(keyOf({ replica, graph }), { replica, graph });
  return [...rows.values()].sort((a, b) =>
    keyOf(a).localeCompare(keyOf(b), "en", { numeric: true }),
  );
}

function diamond(x: number, y: number): string {
  return `M${round(x)} ${round(y - 5)}l5 5l-5 5l-5 -5z`;
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
