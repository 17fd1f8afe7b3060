import type { ArticleState, Demand } from "./model.js";

/** How much the newest week counts against everything before it. */
const weightOfNewest = 0.3;

/**
 * Expected demand by exponential smoothing: each week moves the forecast by a part of its error. The
 * errors made on the way say how far off the next forecast may be.
 */
export function demandOf({ sku, soldByWeek }: ArticleState): Demand {
  const [first = 0, ...later] = soldByWeek;
  let perWeek = first;
  let squares = 0;
  for (const sold of later) {
    const error = sold - perWeek;
    squares += error * error;
    perWeek += weightOfNewest * error;
  }
  const deviation = later.length === 0 ? 0 : Math.sqrt(squares / later.length);
  return { sku, perWeek, deviation };
}
