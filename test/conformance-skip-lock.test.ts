import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeCoordinator } from "@sole-writer/conformance";
import { startPostgres } from "@sole-writer/testbed";
import { afterAll } from "vitest";
import { skipLockFactory } from "./src/factories/skip-lock.js";
import { openVanishingWay, type VanishingWay } from "./src/faults/vanishing-way.js";
import { suiteOptions } from "./src/rounds.js";

const folder = mkdtempSync(join(tmpdir(), "sole-writer-hba-"));
const way = await openVanishingWay();
// A server of its own, because the suite restarts it.
const server = await startPostgres(way ? { settings: reachableOver(way) } : {});
afterAll(async () => {
  await server.stop();
  await way?.close();
  rmSync(folder, { recursive: true });
});

describeCoordinator(
  "skip-lock on postgres",
  await skipLockFactory(server, await server.createDatabase(), way),
  suiteOptions(),
);

/** The server listens on the way too, and lets its far end in, with the password as everywhere. */
function reachableOver({ serverAddress }: VanishingWay): Record<string, string> {
  const hba = join(folder, "pg_hba.conf");
  const lines = ["127.0.0.1/32", `${serverAddress}/30`].map(
    (from) => `host all all ${from} scram-sha-256\nhost replication all ${from} scram-sha-256\n`,
  );
  chmodSync(folder, 0o755);
  writeFileSync(hba, lines.join(""), { mode: 0o644 });
  return { listen_addresses: `127.0.0.1,${serverAddress}`, hba_file: hba };
}
