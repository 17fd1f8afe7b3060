import { describe, expect, it } from "vitest";
import { parseCsv, readData } from "../src/warehouse/csv.js";

describe("the warehouse's files", () => {
  it("hold a warehouse worth planning for", async () => {
    const [articles, sales] = await Promise.all([readData("articles.csv"), readData("sales.csv")]);
    expect(articles.length).toBeGreaterThanOrEqual(200);
    expect(sales.length).toBeGreaterThanOrEqual(2_000);
    const days = new Set(sales.map(([, soldOn]) => soldOn));
    expect(days.size).toBeGreaterThanOrEqual(7 * 7);
  });

  it("agree with each other", async () => {
    const skus = new Set((await readData("articles.csv")).map(([sku]) => sku));
    const boxes = new Set((await readData("scale.csv")).map(([box]) => box));
    for (const [sku] of await readData("stock.csv")) expect(skus).toContain(sku);
    for (const [, , , sku] of await readData("sales.csv")) expect(skus).toContain(sku);
    for (const [sku] of await readData("quotes.csv")) expect(skus).toContain(sku);
    for (const [box, , sku] of await readData("boxes.csv")) {
      expect(skus).toContain(sku);
      expect(boxes).toContain(box);
    }
  });
});

describe("a file's rows", () => {
  it("may have quoted and empty fields", () => {
    expect(parseCsv('a,b,c\n1,"two, or ""2""",3\n,,\n', "x.csv")).toEqual([
      ["1", 'two, or "2"', "3"],
      ["", "", ""],
    ]);
  });

  it("must be as wide as the header", () => {
    expect(() => parseCsv("a,b\n1,2\n3\n", "x.csv")).toThrow(
      "x.csv, line 3: 1 fields instead of 2",
    );
  });
});
