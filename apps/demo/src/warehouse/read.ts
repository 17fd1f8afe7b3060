import type { Pool } from "pg";
import type { ArticleState, BinStock, Box } from "./model.js";

/**
 * Every article with its stock over all bins and its sales by week. "Today" is the day of the newest
 * sale, so that the plan does not depend on when the demo is run.
 */
export async function readArticles(pool: Pool): Promise<ArticleState[]> {
  const { rows } = await pool.query<ArticleState>(`
    WITH weeks AS (
      SELECT generate_series(0, (max(sold_on) - min(sold_on)) / 7) AS week, min(sold_on) AS start
      FROM warehouse.sale),
    sold AS (
      SELECT a.sku, w.week, coalesce(sum(s.quantity), 0)::int AS units
      FROM warehouse.article a CROSS JOIN weeks w
      LEFT JOIN warehouse.sale s ON s.sku = a.sku AND (s.sold_on - w.start) / 7 = w.week
      GROUP BY a.sku, w.week),
    shelf AS (
      SELECT sku, sum(on_hand)::int AS units FROM warehouse.stock GROUP BY sku)
    SELECT a.sku, a.supplier, a.pack_size AS "packSize", a.min_stock AS "minStock",
      coalesce(shelf.units, 0) AS "onHand",
      array_agg(sold.units ORDER BY sold.week) AS "soldByWeek"
    FROM warehouse.article a JOIN sold USING (sku) LEFT JOIN shelf USING (sku)
    GROUP BY a.sku, shelf.units ORDER BY a.sku`);
  return rows;
}

/** What the books say of every bin. */
export async function readStock(pool: Pool): Promise<BinStock[]> {
  const { rows } = await pool.query<BinStock>(
    `SELECT sku, bin, on_hand AS "onHand" FROM warehouse.stock ORDER BY bin, sku`,
  );
  return rows;
}

/** Every packed box, as its label says. */
export async function readBoxes(pool: Pool): Promise<Box[]> {
  const { rows } = await pool.query<Box>(`
    SELECT b.box, b.bin, b.sku, b.quantity, a.unit_weight_g AS "unitWeightGrams"
    FROM warehouse.box b JOIN warehouse.article a USING (sku) ORDER BY b.box`);
  return rows;
}
