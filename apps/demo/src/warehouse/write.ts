import type { ClientBase, Pool } from "pg";
import type { Finding, PurchaseOrder } from "./model.js";

/** Whose results these are. `fence` is a decimal string: it never passes through a number. */
export interface Writer {
  readonly graph: string;
  readonly fence: string;
  readonly window: string;
}

/**
 * Stores the plan of one window in place of an earlier one, in one transaction with the fence.
 * @throws {Error} when a newer grant has written already; nothing is stored then
 */
export async function writeOrders(
  pool: Pool,
  writer: Writer,
  orders: readonly PurchaseOrder[],
): Promise<void> {
  await fenced(pool, writer, async (client) => {
    await client.query("DELETE FROM warehouse.purchase_order WHERE planned_for = $1", [
      writer.window,
    ]);
    await client.query(
      `INSERT INTO warehouse.purchase_order
       SELECT $1, o->>'supplier', $2::bigint, o->'lines', (o->>'totalCents')::bigint
       FROM jsonb_array_elements($3::jsonb) o`,
      [writer.window, writer.fence, JSON.stringify(orders)],
    );
  });
}

/**
 * Stores the findings of one window in place of earlier ones, in one transaction with the fence.
 * @throws {Error} when a newer grant has written already; nothing is stored then
 */
export async function writeFindings(
  pool: Pool,
  writer: Writer,
  findings: readonly Finding[],
): Promise<void> {
  await fenced(pool, writer, async (client) => {
    await client.query("DELETE FROM warehouse.audit_finding WHERE audited_for = $1", [
      writer.window,
    ]);
    await client.query(
      `INSERT INTO warehouse.audit_finding
       SELECT $1, number, $2::bigint, finding
       FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS f (finding, number)`,
      [writer.window, writer.fence, JSON.stringify(findings)],
    );
  });
}

async function fenced(
  pool: Pool,
  { graph, fence }: Writer,
  write: (client: ClientBase) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    // The row stays locked until the commit: an older writer waits here, and then finds itself older.
    const { rowCount } = await client.query(
      `INSERT INTO warehouse.written_by AS w VALUES ($1, $2)
       ON CONFLICT (graph) DO UPDATE SET fence = excluded.fence WHERE w.fence <= excluded.fence`,
      [graph, fence],
    );
    if (rowCount === 0)
      throw new Error(
        `The results of "${graph}" with fence ${fence} were refused: a newer run has written already. Nothing was stored.`,
      );
    await write(client);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
