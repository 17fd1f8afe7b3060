import { describe, expect, it } from "vitest";
import { boxesToWeigh, compareBins, shortBoxes, unitsByWeight } from "../src/warehouse/audit.js";
import type { Box } from "../src/warehouse/model.js";

const box = (changes: Partial<Box> = {}): Box => ({
  box: "BX-1",
  bin: "A-01-1",
  sku: "FAS-001",
  quantity: 10,
  unitWeightGrams: 5,
  ...changes,
});
const stock = (onHand: number) => [{ sku: "FAS-001", bin: "A-01-1", onHand }];

describe("the recount of bins", () => {
  it("finds nothing where the boxes add up to the books", () => {
    expect(compareBins(stock(20), [box(), box({ box: "BX-2" })])).toEqual([]);
  });

  it("finds what is missing and what is too much, in units", () => {
    const place = { sku: "FAS-001", bin: "A-01-1" };
    expect(compareBins(stock(25), [box()])).toEqual([{ kind: "missing", ...place, units: 15 }]);
    expect(compareBins(stock(5), [box()])).toEqual([{ kind: "surplus", ...place, units: 5 }]);
    expect(compareBins(stock(5), [])).toEqual([{ kind: "missing", ...place, units: 5 }]);
  });

  it("tells a box in the wrong bin from the gap that it left", () => {
    expect(compareBins(stock(10), [box({ bin: "Z-10-9" })])).toEqual([
      { kind: "wrong-bin", sku: "FAS-001", bin: "Z-10-9", box: "BX-1", units: 10 },
      { kind: "missing", sku: "FAS-001", bin: "A-01-1", units: 10 },
    ]);
  });
});

describe("the scale", () => {
  it("gets every box of a doubtful article and each fourth of the others", () => {
    const boxes = Array.from({ length: 12 }, (_, n) =>
      box({ box: `BX-${n}`, sku: n === 7 ? "DOUBT" : "FINE" }),
    );
    const doubt = [{ kind: "missing", sku: "DOUBT", bin: "A", units: 1 }] as const;
    expect(boxesToWeigh(boxes, doubt).map((weighed) => weighed.box)).toEqual([
      ...["BX-0", "BX-4", "BX-7", "BX-8"],
    ]);
  });

  it("counts units by weight, without the empty box", () => {
    expect(unitsByWeight(230, 5)).toBe(10);
    expect(unitsByWeight(232, 5)).toBe(10);
    expect(unitsByWeight(228, 5)).toBe(10);
    expect(unitsByWeight(100, 5)).toBe(0);
  });

  it("finds boxes with fewer units than their label says, and leaves out unknown ones", () => {
    const boxes = [box(), box({ box: "BX-2" }), box({ box: "BX-3" })];
    expect(shortBoxes(boxes, { "BX-1": 215, "BX-2": 230 })).toEqual([
      { kind: "short-box", sku: "FAS-001", bin: "A-01-1", box: "BX-1", units: 3 },
    ]);
  });
});
