import type { Pool } from "pg";

/** What the two replicas of the example order from. */
export async function lowStock(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ article: string }>(
    "select article from stock where left_ < 10",
  );
  return rows.map(({ article }) => article);
}

/** Orders once for each call, whoever calls. */
export async function order(pool: Pool, articles: readonly string[]): Promise<string[]> {
  await pool.query("insert into ordered select unnest($1::text[])", [articles]);
  return [...articles];
}
