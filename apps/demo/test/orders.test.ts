import { describe, expect, it } from "vitest";
import { demandOf } from "../src/warehouse/demand.js";
import type { ArticleState, Demand, Quote } from "../src/warehouse/model.js";
import { deriveOrders, reorderPoint, unitsToOrder } from "../src/warehouse/orders.js";

const article = (changes: Partial<ArticleState> = {}): ArticleState => ({
  sku: "FAS-001",
  supplier: "Nordschraube",
  packSize: 10,
  minStock: 5,
  onHand: 0,
  soldByWeek: [],
  ...changes,
});
const steady = (perWeek: number, sku = "FAS-001"): Demand => ({ sku, perWeek, deviation: 0 });
const quote = (changes: Partial<Quote> = {}): Quote => ({
  sku: "FAS-001",
  leadTimeDays: 7,
  priceCents: 20,
  available: 1_000,
  ...changes,
});

describe("demand", () => {
  it("is what is sold every week, with no deviation, when every week is the same", () => {
    expect(demandOf(article({ soldByWeek: [12, 12, 12] }))).toEqual(steady(12));
  });

  it("moves by three tenths of the error of each week", () => {
    const { perWeek, deviation } = demandOf(article({ soldByWeek: [10, 20, 10] }));
    expect(perWeek).toBeCloseTo(10 + 3 - 0.9, 10);
    expect(deviation).toBeCloseTo(Math.sqrt((10 ** 2 + 3 ** 2) / 2), 10);
  });

  it("is nothing for an article that never sold, and its only week for one that sold in one", () => {
    expect(demandOf(article({ soldByWeek: [] }))).toEqual(steady(0));
    expect(demandOf(article({ soldByWeek: [7] }))).toEqual(steady(7));
  });
});

describe("the reorder point", () => {
  it("covers the lead time, and more when demand is uncertain or the minimum is higher", () => {
    expect(reorderPoint(5, steady(14), 7)).toBe(14);
    expect(reorderPoint(5, { ...steady(14), deviation: 10 }, 7)).toBe(31);
    expect(reorderPoint(40, steady(14), 7)).toBe(40);
  });

  it("grows with the lead time, the uncertain part with its root", () => {
    expect(reorderPoint(0, { ...steady(10), deviation: 10 }, 28)).toBe(40 + 33);
  });
});

describe("units to order", () => {
  it("are none as long as the shelf is at the reorder point", () => {
    expect(unitsToOrder(article({ onHand: 14 }), steady(14), 7)).toBe(0);
    expect(unitsToOrder(article({ onHand: 13 }), steady(14), 7)).toBeGreaterThan(0);
  });

  it("are whole packs, rounded up", () => {
    // Reorder point 14, four weeks of 14 more, 13 there: 57 are wanted.
    expect(unitsToOrder(article({ onHand: 13 }), steady(14), 7)).toBe(60);
  });
});

describe("purchase orders", () => {
  it("are one for each supplier, sorted, with their total", () => {
    const articles = [
      article({ sku: "B", supplier: "Voltaire" }),
      article({ sku: "C", supplier: "Aquaflex" }),
      article({ sku: "A", supplier: "Voltaire" }),
    ];
    const orders = deriveOrders(
      articles,
      articles.map(({ sku }) => steady(2, sku)),
      articles.map(({ sku }) => quote({ sku, priceCents: 3 })),
    );
    expect(orders.map(({ supplier, lines }) => [supplier, lines.map(({ sku }) => sku)])).toEqual([
      ["Aquaflex", ["C"]],
      ["Voltaire", ["A", "B"]],
    ]);
    // Minimum 5 and four weeks of 2: 13, in packs of ten 20, twice, at 3 cents.
    expect(orders[1]?.totalCents).toBe(2 * 20 * 3);
  });

  it("take what the supplier has, in whole packs, and say how much is short", () => {
    const orders = deriveOrders(
      [article({ onHand: 13 })],
      [steady(14)],
      [quote({ available: 35 })],
    );
    expect(orders[0]?.lines).toEqual([
      { sku: "FAS-001", quantity: 30, priceCents: 20, shortBy: 30 },
    ]);
  });

  it("leave out what is full and what has no quote", () => {
    expect(deriveOrders([article({ onHand: 99 })], [steady(14)], [quote()])).toEqual([]);
    expect(deriveOrders([article()], [steady(14)], [])).toEqual([]);
  });
});
