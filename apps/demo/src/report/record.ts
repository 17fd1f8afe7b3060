import type { Pool } from "pg";
import { type Check, count } from "../scenes/scene.js";

interface Seen {
  readonly runs: number;
  readonly overlaps: number;
  readonly falling: number;
  readonly unended: number;
}

/**
 * Reads the record that the work itself kept, of which Sole Writer knows nothing. A run is there from the
 * beginning of its first node body to the end of its last. Two runs of one graph at one time are an
 * overlap; a run that began with a fence no larger than that of one before it is a fence that fell.
 */
export async function checkRecord(pool: Pool): Promise<Check[]> {
  const { rows } = await pool.query<Seen>(`
    WITH run AS (
      SELECT graph, fence, pid, min(began_ns) AS began_ns,
        CASE WHEN bool_and(ended_ns IS NOT NULL) THEN max(ended_ns) END AS ended_ns
      FROM stage.body GROUP BY graph, fence, pid),
    in_order AS (
      SELECT *, max(fence) OVER before AS fence_before,
        max(coalesce(ended_ns, 9223372036854775807)) OVER before AS ended_before_ns
      FROM run
      WINDOW before AS (PARTITION BY graph ORDER BY began_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
    SELECT count(*)::int AS runs,
      count(*) FILTER (WHERE ended_before_ns > began_ns)::int AS overlaps,
      count(*) FILTER (WHERE fence_before >= fence)::int AS falling,
      count(*) FILTER (WHERE ended_ns IS NULL)::int AS unended
    FROM in_order`);
  const { runs, overlaps, falling, unended } = rows[0] ?? nothing;
  const among = `among ${count(runs, "run")}`;
  const endless = unended === 0 ? "" : `, ${count(unended, "run")} without an end`;
  return [
    {
      promised: "two runs of one graph never overlap, by the record that the nodes keep",
      seen: `${count(overlaps, "overlap")} ${among}${endless}`,
      kept: runs > 0 && overlaps === 0 && unended === 0,
    },
    {
      promised: "every run of a graph has a higher fence than all runs before it",
      seen: falling === 0 ? `so it was, ${among}` : `not for ${count(falling, "run")} ${among}`,
      kept: runs > 0 && falling === 0,
    },
  ];
}

const nothing: Seen = { runs: 0, overlaps: 0, falling: 0, unended: 0 };
