import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { durableClaim } from "../src/index.js";

// A plan that runs a limited, locking part once for each row of another claims more than was asked for.
const server = await sharedPostgres();

const roads = [
  "enable_hashjoin",
  "enable_mergejoin",
  "enable_nestloop",
  "enable_material",
  "enable_memoize",
  "enable_sort",
  "enable_hashagg",
  "enable_indexscan",
  "enable_indexonlyscan",
  "enable_bitmapscan",
  "enable_seqscan",
];
const closings: readonly (readonly string[])[] = [
  [],
  ...roads.map((road) => [road]),
  ["enable_hashjoin", "enable_mergejoin", "enable_material", "enable_sort", "enable_hashagg"],
  ["enable_hashjoin", "enable_nestloop"],
  ["enable_mergejoin", "enable_nestloop"],
  ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"],
  roads,
];
const kinds = [
  { exclusive: "graph" },
  { exclusive: "unit" },
  { exclusive: "unit", parallel: 2 },
] as const;

it.each(
  closings
    .filter((closed) =>
      closed.every((road) => road !== "enable_memoize" || server.majorVersion >= 14),
    )
    .map((closed) => ({ named: closed.join(", ") || "nothing", closed })),
)("claims what it is asked for with $named turned off", async ({ closed }) => {
  const url = await server.createDatabase();
  const database = new URL(url).pathname.slice(1);
  for (const road of closed) await server.query(`alter database ${database} set ${road} = off`);
  for (const kind of kinds) {
    await using coordinator = durableClaim({
      app: JSON.stringify(kind),
      url,
      wake: false,
      ...kind,
    });
    const graphs = ["a", "b", "c", "d", "e"];
    await coordinator.submitMany(graphs.flatMap((graph) => Array(8).fill({ graph })));
    for (const limit of [1, 2, 1]) {
      const grants = await coordinator.claim({ limit });
      expect(grants).toHaveLength(limit);
      const running = await server.query(
        "select count(*)::int as running from sole_writer.unit where app = $1 and state = 'running'",
        [JSON.stringify(kind)],
        url,
      );
      expect(running).toEqual([{ running: limit }]);
      for (const grant of grants) await grant.settle({ kind: "done" });
      const named = await coordinator.claim({ limit: 1, graphs: ["e", "d"] });
      expect(named.map(({ graph }) => graph)).toHaveLength(1);
      for (const grant of named) await grant.settle({ kind: "done" });
    }
    const left = await coordinator.backlog();
    expect(left.reduce((sum, { due }) => sum + due, 0)).toBe(40 - 4 - 3);
  }
});
