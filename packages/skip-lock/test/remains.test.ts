import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { openSession, sessionName } from "@sole-writer/postgres";
import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { lockKey, lockSpaceOf, skipLock } from "../src/index.js";
import { done, granted, refused } from "./support/answers.js";

const server = await sharedPostgres();
const here = fileURLToPath(new URL(".", import.meta.url));

it("ends a session of its own that it gave up and that the server still keeps", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url });
  // What the server sees when a replica gave an acquire up behind a link that swallows the good-bye.
  const orphan = await openSession({
    url,
    applicationName: sessionName(coordinator.holder, 1_000).applicationName,
    signal: AbortSignal.timeout(5_000),
  });
  const { lockArguments } = lockKey("pair", lockSpaceOf("warehouse"), "graph");
  await orphan.run({ text: "select pg_advisory_lock($1::int, $2::int)" }, lockArguments);

  await (await granted(coordinator.acquire("graph"))).settle(done);
  expect(orphan.isOpen).toBe(false);
});

it("leaves the same remains to their own replica: another one is refused and ends nothing", async () => {
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "warehouse", url });
  await using other = skipLock({ app: "warehouse", url });
  const grant = await granted(coordinator.acquire("graph"));
  await refused(other.acquire("graph"));
  await grant.confirmHeld();
  await grant.settle(done);
});

it("asks again on a new connection when the one it kept has died unseen", async () => {
  const url = await server.createDatabase();
  await using holder = skipLock({ app: "warehouse", url });
  await using loser = skipLock({ app: "warehouse", url });
  const grant = await granted(holder.acquire("graph"));
  await refused(loser.acquire("graph"));
  // While this call blocks the event loop, nobody here can see the connection end.
  const script = `
    const { Client } = require("pg");
    const client = new Client(process.argv[1]);
    client.connect()
      .then(() => client.query(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database() and pid <> (select backend_pid from sole_writer.graph)"))
      .then(({ rowCount }) => { process.stdout.write(String(rowCount)); return client.end(); });`;
  const ended = spawnSync(process.execPath, ["-e", script, url], { cwd: here, encoding: "utf8" });
  const asking = loser.acquire("graph");
  expect(ended.stdout).toBe("1");
  expect((await refused(asking)).holder?.id).toBe(holder.holder.id);
  await grant.settle(done);
});

it("keeps a few sessions of losers for the next try, and closes the others", async () => {
  const url = await server.createDatabase();
  await using holder = skipLock({ app: "warehouse", url, session: "shared" });
  await using loser = skipLock({ app: "warehouse", url });
  const graphs = Array.from({ length: 12 }, (_, index) => `graph-${index}`);
  const grants = await Promise.all(graphs.map((graph) => granted(holder.acquire(graph))));
  await Promise.all(graphs.map((graph) => refused(loser.acquire(graph))));
  const count = async () => {
    const rows = await server.query(
      "select from pg_stat_activity where application_name like 'sole-writer/%' and datname = current_database()",
      [],
      url,
    );
    return rows.length;
  };
  // One of the holder, four of the loser.
  await expect.poll(count, { timeout: 5_000 }).toBe(5);
  await Promise.all(grants.map((grant) => grant.settle(done)));
});
