/** Starts one of each, stops some of them, tells their pids, and then only waits. */
import { spawn } from "node:child_process";
import { hogCpu, spawnProcess, startPostgres, startProxy } from "@sole-writer/testbed";

const server = await startPostgres();
const proxy = await startProxy(server);
const throughProxy = server.url({ port: proxy.port });
// Never answered: a backend in the middle of a statement, and one that stands still.
server.query("SELECT pg_sleep(600)", [], throughProxy).catch(() => {});
const sleeper = spawnProcess(new URL("./echo.mjs", import.meta.url));
await sleeper.nextMessage((message) => message === "ready");
sleeper.stop();
const hogs = hogCpu(1);
const unannounced = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);

const [{ folder, postmaster }] = await server.query(
  "SELECT current_setting('data_directory') AS folder, split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int AS postmaster",
);
// Not the sessions of the questions here, which end by themselves.
const staying = `SELECT pid, query FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND
  (query LIKE '%pg_sleep%' OR backend_type NOT IN ('client backend', 'autovacuum worker'))`;
let backends = [];
while (!backends.some((one) => one.query.includes("pg_sleep"))) {
  backends = await server.query(staying);
}
server.pause(backends.find((one) => one.query.includes("pg_sleep")).pid);

process.send({
  pids: [postmaster, sleeper.pid, ...hogs.pids, unannounced.pid, ...backends.map((one) => one.pid)],
  folder,
  proxyPort: proxy.port,
});
if (process.argv[2] === "and-exit") process.exit(0);
