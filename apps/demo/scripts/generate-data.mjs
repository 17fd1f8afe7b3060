/**
 * Makes the files of ../data: a small warehouse for tools and building supplies, invented from a seed.
 *
 * The files are committed, and the demo reads only them. Run this again only to change the warehouse:
 * `node apps/demo/scripts/generate-data.mjs`. The same seed gives the same files, to the byte.
 */
import { mkdirSync, writeFileSync } from "node:fs";

const seed = 20_260_105;
const firstDay = Date.UTC(2025, 10, 10);
const days = 56;
const tareGrams = 180;

/** family, prefix, supplier, base price in cents, base weight in grams, pack sizes, names */
const families = [
  [
    "Fasteners",
    "FAS",
    "Nordschraube",
    9,
    6,
    [100, 200],
    "Hex bolt|Wood screw|Carriage bolt|Lock nut",
  ],
  [
    "Cable ties",
    "CAB",
    "Kabelwerk Ost",
    7,
    3,
    [100, 250],
    "Cable tie|Cable clip|Heat shrink|Cable gland",
  ],
  [
    "Hand tools",
    "HAN",
    "Riva Utensili",
    1450,
    320,
    [6, 12],
    "Claw hammer|Open spanner|Long-nose pliers|Rasp",
  ],
  [
    "Gloves",
    "GLO",
    "Safehand",
    390,
    70,
    [12, 24],
    "Nitrile glove|Leather glove|Cut glove|Winter glove",
  ],
  [
    "Batteries",
    "BAT",
    "Voltaire",
    210,
    24,
    [20, 40],
    "Alkaline cell|Lithium cell|Button cell|9 V block",
  ],
  ["Tape", "TAP", "Klebmann", 340, 180, [12, 36], "Masking tape|Duct tape|Cloth tape|Sealing tape"],
  ["Paint", "PAI", "Klebmann", 1890, 1150, [4, 6], "Wall paint|Wood stain|Primer|Radiator enamel"],
  [
    "Valves",
    "VAL",
    "Riva Utensili",
    960,
    210,
    [10, 20],
    "Ball valve|Check valve|Gate valve|Drain valve",
  ],
  [
    "Bearings",
    "BEA",
    "Nordschraube",
    620,
    95,
    [10, 25],
    "Ball bearing|Needle bearing|Thrust bearing|Bushing",
  ],
  ["Lamps", "LAM", "Voltaire", 780, 60, [10, 20], "LED bulb|LED tube|Work lamp|Head torch"],
  [
    "Hoses",
    "HOS",
    "Aquaflex",
    1280,
    540,
    [5, 10],
    "Garden hose|Air hose|Suction hose|Braided hose",
  ],
  [
    "Abrasives",
    "ABR",
    "Safehand",
    150,
    28,
    [25, 50],
    "Sanding disc|Cutting disc|Flap wheel|Sanding sheet",
  ],
];
const sizes = ["XS", "S", "M", "L", "XL"];
const leadTimes = {
  Nordschraube: 5,
  "Kabelwerk Ost": 9,
  "Riva Utensili": 14,
  Safehand: 7,
  Voltaire: 6,
  Klebmann: 4,
  Aquaflex: 11,
};

const random = numbersFrom(seed);
const between = (low, high) => low + Math.floor(random() * (high - low + 1));
const pick = (list) => list[between(0, list.length - 1)];

const articles = families.flatMap(([family, prefix, supplier, price, weight, packs, names]) =>
  names.split("|").flatMap((name, n) =>
    sizes.map((size, s) => ({
      sku: `${prefix}-${String(n * sizes.length + s + 1).padStart(3, "0")}`,
      name: `${name} ${size}`,
      family,
      supplier,
      packSize: pick(packs),
      unitPriceCents: Math.max(2, Math.round(price * (0.7 + s * 0.2) * (0.9 + random() * 0.2))),
      unitWeightGrams: Math.max(2, Math.round(weight * (0.6 + s * 0.25))),
      // A few articles sell most: 1/rank, in an order that has nothing to do with the list's.
      popularity: 1 / (1 + between(0, 60)),
      trend: 0.7 + random() * 0.7,
    })),
  ),
);

const sales = salesLines();
const soldUnits = new Map();
for (const { sku, quantity } of sales) soldUnits.set(sku, (soldUnits.get(sku) ?? 0) + quantity);
for (const article of articles) {
  const perWeek = (soldUnits.get(article.sku) ?? 0) / (days / 7);
  article.minStock = Math.max(article.packSize, Math.ceil((perWeek * 1.5) / 5) * 5);
}

const { stock, boxes } = stockAndBoxes();
const quotes = articles.map(({ sku, supplier, unitPriceCents, packSize }) => [
  sku,
  supplier,
  leadTimes[supplier] + between(-1, 2),
  Math.max(1, Math.round(unitPriceCents * (0.55 + random() * 0.15))),
  // One in twelve is short at the supplier as well.
  random() < 1 / 12 ? packSize * between(0, 2) : packSize * between(20, 80),
]);

write(
  "articles.csv",
  "sku,name,family,supplier,pack_size,min_stock,unit_price_cents,unit_weight_g",
  [
    ...articles.map((a) => [
      ...[a.sku, a.name, a.family, a.supplier, a.packSize, a.minStock],
      ...[a.unitPriceCents, a.unitWeightGrams],
    ]),
  ],
);
write("stock.csv", "sku,bin,on_hand", stock);
write("sales.csv", "line,sold_on,order_no,sku,quantity", [
  ...sales.map((s, n) => [n + 1, s.day, s.order, s.sku, s.quantity]),
]);
write(
  "boxes.csv",
  "box,bin,sku,quantity",
  boxes.map(({ box, bin, sku, label }) => [box, bin, sku, label]),
);
write(
  "scale.csv",
  "box,grams",
  boxes.map(({ box, grams }) => [box, grams]),
);
write("quotes.csv", "sku,supplier,lead_time_days,price_cents,available", quotes);

/** Customers' orders, more of them on weekdays, each of a few lines. */
function salesLines() {
  const lines = [];
  let order = 50_001;
  for (let day = 0; day < days; day += 1) {
    const date = new Date(firstDay + day * 86_400_000);
    const weekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
    for (let n = between(...(weekend ? [5, 9] : [18, 26])); n > 0; n -= 1) {
      for (let line = between(1, 5); line > 0; line -= 1) {
        const article = weighted(day / days);
        const quantity = Math.max(1, Math.round(article.packSize * random() * random() * 0.8));
        lines.push({ day: date.toISOString().slice(0, 10), order, sku: article.sku, quantity });
      }
      order += 1;
    }
  }
  return lines;
}

function weighted(progress) {
  const weightOf = (a) => a.popularity * (1 + (a.trend - 1) * progress * 2);
  let rest = random() * articles.reduce((sum, a) => sum + weightOf(a), 0);
  for (const article of articles) {
    rest -= weightOf(article);
    if (rest <= 0) return article;
  }
  return articles[0];
}

/** What the books say, and what lies in the bins: mostly the same. */
function stockAndBoxes() {
  const stockLines = [];
  const packed = [];
  for (const article of articles) {
    const bins = between(1, 3);
    const wanted = article.minStock * (0.2 + random() * 1.9);
    const perBin = Math.floor(wanted / article.packSize / bins);
    for (let n = 0; n < bins; n += 1) {
      const bin = `${pick(["A", "B", "C", "D"])}-${String(between(1, 40)).padStart(2, "0")}-${n + 1}`;
      const full = Math.min(perBin, 4);
      const loose =
        full === 0 || random() < 0.3 ? between(1, Math.max(1, article.packSize - 1)) : 0;
      const quantities = [...Array(full).fill(article.packSize), ...(loose > 0 ? [loose] : [])];
      const units = quantities.reduce((sum, quantity) => sum + quantity, 0);
      // One bin in a hundred has a box that nobody wrote down.
      const unwritten = random() < 1 / 60 && full > 0 ? article.packSize : 0;
      stockLines.push([article.sku, bin, units - unwritten]);
      for (const quantity of quantities) packed.push(boxOf(article, bin, quantity, packed.length));
    }
  }
  const kept = packed.filter(() => random() > 0.012); // a box that is gone
  for (const box of kept) if (random() < 0.008) box.bin = `Z-${between(10, 20)}-9`; // put elsewhere
  return { stock: stockLines, boxes: kept };
}

function boxOf(article, bin, quantity, n) {
  // One box in 25 holds fewer units than its label says.
  const inside = random() < 1 / 25 ? Math.max(0, quantity - between(1, 4)) : quantity;
  const noise = 1 + (random() - 0.5) * 0.001;
  const grams = Math.round(tareGrams + inside * article.unitWeightGrams * noise);
  return {
    box: `BX-${String(n + 1).padStart(5, "0")}`,
    bin,
    sku: article.sku,
    label: quantity,
    grams,
  };
}

function write(name, header, rows) {
  const folder = new URL("../data/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const lines = rows.map((row) => row.map(field).join(","));
  writeFileSync(new URL(name, folder), `${[header, ...lines].join("\n")}\n`);
  process.stdout.write(`${name}: ${rows.length} rows\n`);
}

function field(value) {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Numbers in [0, 1) from a 32-bit xorshift (Marsaglia, "Xorshift RNGs", 2003): the same everywhere. */
function numbersFrom(start) {
  let state = start;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
