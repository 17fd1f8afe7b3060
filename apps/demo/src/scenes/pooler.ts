import { findServer, type PgBouncer, startPgBouncer } from "@sole-writer/testbed";
import type { Stage } from "../stage/stage.js";
import { count, type Played, type Scene } from "./scene.js";
import { tellTick } from "./tell.js";

const graph = "restock_plan";

/**
 * Behind a transaction pooler every statement may go to another session, so a lock that belongs to a
 * session belongs to nobody. The replica behind it must not run, and must not take that for "held" either.
 */
export const pooler: Scene = {
  name: "pooler",
  title: "a transaction pooler in the way is refused: a lock taken through it excludes nobody",
  async play(stage) {
    const found = findServer("pgbouncer");
    if (!found.found && !process.env.PGBOUNCER_URL) return { kind: "left-out", why: found.advice };
    let bouncer: PgBouncer;
    try {
      bouncer = await bouncerBefore(stage);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: "left-out", why: `PgBouncer did not start here: ${why}` };
    }
    try {
      return await playBehind(bouncer, stage);
    } finally {
      await bouncer.stop();
    }
  },
};

function bouncerBefore(stage: Stage): Promise<PgBouncer> {
  const { hostname, port, pathname, username, password } = new URL(stage.database.url);
  const decoded = decodeURIComponent;
  return startPgBouncer({
    server: { host: hostname, port: Number(port || 5432) },
    database: decoded(pathname.slice(1)),
    user: decoded(username),
    ...(password !== "" && { password: decoded(password) }),
    poolMode: "transaction",
    poolSize: 2,
  });
}

async function playBehind(bouncer: PgBouncer, stage: Stage): Promise<Played> {
  const [direct] = await stage.threeReplicas();
  const window = stage.nextWindow();
  stage.say("director", "plain", "PgBouncer is up, in transaction mode");
  const pooled = await stage.extraReplica("pooled", bouncer.url());
  const refused = await stage.within(tellTick(stage, pooled, graph, window), "the pooled tick");
  const bodies = await bodiesOf(stage, pooled.pid);
  await pooled.close();
  const next = await stage.within(tellTick(stage, direct, graph, window), "the direct tick");
  return {
    kind: "played",
    checks: [
      {
        promised: "a replica behind the pooler gets an error that says so, and no refusal",
        seen: refused.status === "error" ? refused.code : refused.status,
        kept:
          refused.status === "error" &&
          refused.code === "BACKEND_POOLED" &&
          refused.message.includes("pooler"),
      },
      {
        promised: "it runs nothing",
        seen: `${count(bodies, "node body", "node bodies")} ran`,
        kept: bodies === 0,
      },
      {
        promised: "a replica that connects directly runs the same window",
        seen: next.status === "ran" ? `${direct.label} (${next.how})` : next.status,
        kept: next.status === "ran" && next.how === "ran",
      },
    ],
  };
}

async function bodiesOf(stage: Stage, pid: number): Promise<number> {
  const { rows } = await stage.database.pool.query<{ bodies: number }>(
    "SELECT count(*)::int AS bodies FROM stage.body WHERE pid = $1",
    [pid],
  );
  return rows[0]?.bodies ?? 0;
}
