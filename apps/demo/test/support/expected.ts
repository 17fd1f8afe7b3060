import { describeAudit } from "../../src/graphs/pack-audit.js";
import { describePlan } from "../../src/graphs/restock-plan.js";
import { boxesToWeigh, compareBins, shortBoxes } from "../../src/warehouse/audit.js";
import { readData } from "../../src/warehouse/csv.js";
import { demandOf } from "../../src/warehouse/demand.js";
import { deriveOrders } from "../../src/warehouse/orders.js";

const dayMs = 86_400_000;

/** The plan as it must come out, from the files alone: no database, no feed, no graph. */
export async function expectedPlan(): Promise<string> {
  const [articleRows, stock, sales, quoteRows] = await Promise.all(
    ["articles.csv", "stock.csv", "sales.csv", "quotes.csv"].map(readData),
  );
  const days = (sales ?? []).map(([, soldOn = ""]) => Date.parse(soldOn) / dayMs);
  const firstDay = Math.min(...days);
  const weeks = Math.floor((Math.max(...days) - firstDay) / 7) + 1;
  const articles = (articleRows ?? []).map(([sku = "", , , supplier = "", packSize, minStock]) => {
    const soldByWeek = Array.from({ length: weeks }, () => 0);
    for (const [index, [, , , sold, quantity]] of (sales ?? []).entries()) {
      const week = Math.floor(((days[index] ?? 0) - firstDay) / 7);
      if (sold === sku) soldByWeek[week] = (soldByWeek[week] ?? 0) + Number(quantity);
    }
    const bins = (stock ?? []).filter(([inBin]) => inBin === sku);
    const onHand = bins.reduce((sum, [, , units]) => sum + Number(units), 0);
    const numbers = { packSize: Number(packSize), minStock: Number(minStock) };
    return { sku, supplier, ...numbers, onHand, soldByWeek };
  });
  const quotes = (quoteRows ?? []).map(([sku = "", , leadTime, price, available]) => ({
    sku,
    leadTimeDays: Number(leadTime),
    priceCents: Number(price),
    available: Number(available),
  }));
  return describePlan({ orders: deriveOrders(articles, articles.map(demandOf), quotes) });
}

/** The audit as it must come out, from the files alone. */
export async function expectedAudit(): Promise<string> {
  const [articles, stockRows, boxRows, scale] = await Promise.all(
    ["articles.csv", "stock.csv", "boxes.csv", "scale.csv"].map(readData),
  );
  const weights = new Map((articles ?? []).map((row) => [row[0] ?? "", Number(row[7])]));
  const stock = (stockRows ?? []).map(([sku = "", bin = "", onHand]) => {
    return { sku, bin, onHand: Number(onHand) };
  });
  const boxes = (boxRows ?? []).map(([box = "", bin = "", sku = "", quantity]) => {
    return { box, bin, sku, quantity: Number(quantity), unitWeightGrams: weights.get(sku) ?? 0 };
  });
  const grams = Object.fromEntries(
    (scale ?? []).map(([box = "", weight]) => [box, Number(weight)]),
  );
  const findings = compareBins(stock, boxes);
  const short = shortBoxes(boxesToWeigh(boxes, findings), grams);
  return describeAudit({ findings: [...findings, ...short] });
}
