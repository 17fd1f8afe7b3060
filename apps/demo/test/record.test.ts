import { type Database, sharedPostgres } from "@sole-writer/testbed";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkRecord } from "../src/report/record.js";
import { createTables } from "../src/warehouse/tables.js";

let server: Database;
let pool: Pool;
beforeAll(async () => {
  server = await sharedPostgres();
  pool = new Pool({ connectionString: await server.createDatabase(), max: 1 });
  await pool.query(createTables);
});
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});
beforeEach(async () => {
  await pool.query("TRUNCATE stage.body");
});

/** graph, fence, pid, begin and end in ns; no end for a body that never ended. */
type Body = readonly [graph: string, fence: number, pid: number, began: number, ended?: number];

async function judged(...bodies: Body[]) {
  for (const [graph, fence, pid, began, ended] of bodies)
    await pool.query(
      `INSERT INTO stage.body (graph, node, fence, pid, began_ns, ended_ns)
       VALUES ($1, 'n', $2, $3, $4, $5)`,
      [graph, fence, pid, began, ended ?? null],
    );
  const [overlap, fences] = await checkRecord(pool);
  return { overlap: overlap?.kept, fences: fences?.kept, seen: overlap?.seen };
}

describe("the judge of the record", () => {
  it("is content with runs of one graph that follow each other, with several nodes each", async () => {
    expect(
      await judged(
        ["g", 1, 7, 0, 10],
        ["g", 1, 7, 12, 20],
        ["g", 2, 8, 20, 30],
        ["g", 5, 7, 31, 32],
      ),
    ).toEqual({ overlap: true, fences: true, seen: "0 overlaps among 3 runs" });
  });

  it("lets two graphs run at one time, whatever their fences", async () => {
    expect(await judged(["g", 9, 7, 0, 100], ["h", 1, 8, 10, 20])).toMatchObject({
      overlap: true,
      fences: true,
    });
  });

  it("finds two runs at one time", async () => {
    expect(await judged(["g", 1, 7, 0, 10], ["g", 2, 8, 9, 20])).toEqual({
      overlap: false,
      fences: true,
      seen: "1 overlap among 2 runs",
    });
  });

  it("finds a run that begins between two nodes of another", async () => {
    expect(
      await judged(["g", 1, 7, 0, 10], ["g", 2, 8, 12, 14], ["g", 1, 7, 20, 30]),
    ).toMatchObject({ overlap: false });
  });

  it("finds a run inside a longer one that began before its neighbour", async () => {
    expect(
      await judged(["g", 1, 7, 0, 100], ["g", 2, 8, 110, 120], ["g", 3, 9, 115, 118]),
    ).toMatchObject({ overlap: false });
  });

  it("finds the same fence in two processes, and a fence that fell", async () => {
    expect(await judged(["g", 1, 7, 0, 10], ["g", 1, 8, 11, 20])).toMatchObject({ fences: false });
    expect(await judged(["h", 5, 7, 0, 10], ["h", 4, 8, 11, 20])).toMatchObject({ fences: false });
  });

  it("takes a body without an end for one that still runs", async () => {
    expect(await judged(["g", 1, 7, 0], ["g", 2, 8, 5, 6])).toEqual({
      overlap: false,
      fences: true,
      seen: "1 overlap among 2 runs, 1 run without an end",
    });
  });

  it("is not content with an empty record", async () => {
    expect(await judged()).toMatchObject({ overlap: false, fences: false });
  });
});
