import type { ArticleState, Demand, OrderLine, PurchaseOrder, Quote } from "./model.js";

/** Standard deviations of extra stock: about 95 of 100 weeks then end with goods left on the shelf. */
const safetyFactor = 1.65;
/** After an order arrives, the shelf should last this much longer. */
const coverWeeks = 4;

/** Below this stock it is time to order: what sells until the goods arrive, and a reserve. */
export function reorderPoint(minStock: number, demand: Demand, leadTimeDays: number): number {
  const weeks = leadTimeDays / 7;
  const reserve = safetyFactor * demand.deviation * Math.sqrt(weeks);
  return Math.max(minStock, Math.ceil(demand.perWeek * weeks + reserve));
}

/** Whole packs that bring the shelf up to the reorder point and some weeks more; 0 when it is full enough. */
export function unitsToOrder(article: ArticleState, demand: Demand, leadTimeDays: number): number {
  const point = reorderPoint(article.minStock, demand, leadTimeDays);
  if (article.onHand >= point) return 0;
  const wanted = point + demand.perWeek * coverWeeks - article.onHand;
  return Math.ceil(wanted / article.packSize) * article.packSize;
}

/**
 * Purchase orders, one for each supplier that is needed, suppliers and articles in alphabetical order.
 * The same input gives the same orders. An article without a quote is left out.
 */
export function deriveOrders(
  articles: readonly ArticleState[],
  demands: readonly Demand[],
  quotes: readonly Quote[],
): PurchaseOrder[] {
  const demandBySku = new Map(demands.map((demand) => [demand.sku, demand]));
  const quoteBySku = new Map(quotes.map((quote) => [quote.sku, quote]));
  const linesBySupplier = new Map<string, OrderLine[]>();
  for (const article of articles) {
    const demand = demandBySku.get(article.sku);
    const quote = quoteBySku.get(article.sku);
    const line = demand && quote && lineFor(article, demand, quote);
    if (!line) continue;
    const known = linesBySupplier.get(article.supplier);
    if (known) known.push(line);
    else linesBySupplier.set(article.supplier, [line]);
  }
  return [...linesBySupplier]
    .map(([supplier, lines]) => orderOf(supplier, lines))
    .sort((a, b) => compare(a.supplier, b.supplier));
}

function lineFor(article: ArticleState, demand: Demand, quote: Quote): OrderLine | undefined {
  const wanted = unitsToOrder(article, demand, quote.leadTimeDays);
  if (wanted === 0) return undefined;
  const packs = Math.floor(Math.min(wanted, quote.available) / article.packSize);
  const quantity = packs * article.packSize;
  const { sku, priceCents } = quote;
  return { sku, quantity, priceCents, shortBy: wanted - quantity };
}

function orderOf(supplier: string, lines: readonly OrderLine[]): PurchaseOrder {
  const sorted = [...lines].sort((a, b) => compare(a.sku, b.sku));
  const totalCents = sorted.reduce((sum, line) => sum + line.quantity * line.priceCents, 0);
  return { supplier, lines: sorted, totalCents };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
