import type { Pool } from "pg";
import type { BodyPen } from "../graphs/tools.js";

/** Writes to `stage.body`, on the pool of the work and not on a session of Sole Writer. */
export function bodyPen(pool: Pool): BodyPen {
  return {
    async began({ graph, node, fence, atNs }) {
      const { rows } = await pool.query<{ id: string }>(
        `INSERT INTO stage.body (graph, node, fence, pid, began_ns)
         VALUES ($1, $2, $3, $4, $5) RETURNING id`,
        [graph, node, String(fence), process.pid, String(atNs)],
      );
      const [row] = rows;
      if (!row) throw new Error("PostgreSQL stored a row and did not say which.");
      return row.id;
    },
    async ended(id, atNs) {
      await pool.query("UPDATE stage.body SET ended_ns = $2 WHERE id = $1", [id, String(atNs)]);
    },
  };
}
