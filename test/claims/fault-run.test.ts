import { startPostgres } from "@sole-writer/testbed";
import { afterAll, expect, it } from "vitest";
import { faultRun } from "../src/claims/fault-run.js";

// A server of its own, because the run restarts it.
const server = await startPostgres();
afterAll(() => server.stop());

// The small form; scripts/claims-fault-run.mjs is the large one.
it("brings every unit to an end, once, while replicas are killed and stopped", async () => {
  const report = await faultRun({
    url: await server.createDatabase(),
    units: 1_000,
    graphs: 12,
    replicas: 4,
    faultEveryMs: 200,
    leaseMs: 1_500,
    restartServer: () => server.restart("immediate"),
    // Ten times what it takes beside nobody else.
    limitMs: 150_000,
  });
  console.log(report);
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ done: 1_000, others: 0 });
  expect(report.kills + report.stops).toBeGreaterThan(5);
}, 180_000);
