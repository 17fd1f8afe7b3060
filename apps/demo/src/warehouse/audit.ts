import type { BinStock, Box, Finding } from "./model.js";

/** An empty box weighs this. */
const tareGrams = 180;
/** Besides the doubtful ones, every so many-th box goes onto the scale. */
const sampleEvery = 4;

/**
 * Recounts every bin by the labels of the boxes that lie in it, and compares with the books. A box in a
 * bin where the books know nothing of its article is in the wrong bin; what it leaves behind shows as
 * missing in the right one.
 */
export function compareBins(stock: readonly BinStock[], boxes: readonly Box[]): Finding[] {
  const counted = new Map<string, number>();
  const known = new Set(stock.map(placeOf));
  const findings: Finding[] = [];
  for (const box of boxes) {
    const place = placeOf(box);
    if (known.has(place)) counted.set(place, (counted.get(place) ?? 0) + box.quantity);
    else {
      const { sku, bin, quantity } = box;
      findings.push({ kind: "wrong-bin", sku, bin, box: box.box, units: quantity });
    }
  }
  for (const line of stock) {
    const difference = (counted.get(placeOf(line)) ?? 0) - line.onHand;
    if (difference === 0) continue;
    const kind = difference < 0 ? "missing" : "surplus";
    findings.push({ kind, sku: line.sku, bin: line.bin, units: Math.abs(difference) });
  }
  return findings;
}

/** The boxes worth weighing: all of an article that has a finding, and a sample of the others. */
export function boxesToWeigh(boxes: readonly Box[], findings: readonly Finding[]): Box[] {
  const doubtful = new Set(findings.map((finding) => finding.sku));
  return boxes.filter((box, index) => doubtful.has(box.sku) || index % sampleEvery === 0);
}

/** How many units are inside, by weight. */
export function unitsByWeight(grams: number, unitWeightGrams: number): number {
  return Math.max(0, Math.round((grams - tareGrams) / unitWeightGrams));
}

/** Boxes that hold fewer units than their label says. A box that the scale does not know is left out. */
export function shortBoxes(
  weighed: readonly Box[],
  gramsByBox: Readonly<Record<string, number>>,
): Finding[] {
  return weighed.flatMap((box): Finding[] => {
    const grams = gramsByBox[box.box];
    if (grams === undefined) return [];
    const short = box.quantity - unitsByWeight(grams, box.unitWeightGrams);
    if (short <= 0) return [];
    return [{ kind: "short-box", sku: box.sku, bin: box.bin, box: box.box, units: short }];
  });
}

function placeOf({ sku, bin }: { readonly sku: string; readonly bin: string }): string {
  return `${sku} ${bin}`;
}
