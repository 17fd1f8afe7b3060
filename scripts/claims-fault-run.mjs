// The large form of test/claims/fault-run.test.ts: 10,000 units over 50 graphs, 8 replicas, one of them
// killed or stopped every 200 ms, and one crash of the server. Build first. Exits with 1 on a finding.

import { startPostgres } from "../packages/testbed/dist/index.js";
import { faultRun } from "../test/dist/claims/fault-run.js";

const units = 10_000;
const server = await startPostgres();
try {
  const report = await faultRun({
    url: await server.createDatabase(),
    units,
    graphs: 50,
    replicas: 8,
    faultEveryMs: 200,
    leaseMs: 2_000,
    restartServer: () => server.restart("immediate"),
    limitMs: 900_000,
    say: console.log,
  });
  console.log(report);
  if (report.findings.length > 0 || report.done !== units || report.others > 0)
    process.exitCode = 1;
} finally {
  await server.stop();
}
