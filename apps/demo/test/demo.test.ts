import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, findServer, sharedPostgres } from "@sole-writer/testbed";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../src/report/verdict.js";
import { expectedAudit, expectedPlan } from "./support/expected.js";
import { groupIsThere, runDemo, startDemo } from "./support/run-demo.js";

/** A run takes about 5 s alone; beside other test files and on a loaded machine several times that. */
const runMs = 120_000;
/** What the demo promises to stay under, loaded machine or not. */
const longestMs = 60_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sole-writer-demo-test-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});
const picture = (name: string) => ["--timeline", join(folder, `${name}.svg`)];

function reportOf(stdout: string): Report {
  const report: Report = JSON.parse(stdout);
  return report;
}

const broken = (report: Report) =>
  report.scenes.flatMap(({ name, checks }) =>
    checks.filter(({ kept }) => !kept).map((check) => ({ name, ...check })),
  );

describe("the demo on a PostgreSQL that it starts itself", () => {
  it(
    "keeps every promise of every scene, tells the story, draws the picture, and ends with 0",
    async () => {
      const { code, stdout, stderr } = await runDemo(["--json", ...picture("all")]);
      const report = reportOf(stdout);
      expect(broken(report)).toEqual([]);
      expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
      expect(report.tookMs).toBeLessThan(longestMs);
      expect(report.scenes.map(({ name }) => name)).toEqual([
        ...["contention", "supplier-down", "two-graphs", "killed-holder", "cut-session"],
        ...["pooler", "record"],
      ]);
      const hasPooler = findServer("pgbouncer").found;
      for (const { name, state } of report.scenes)
        expect([name, state]).toEqual([
          name,
          name === "pooler" && !hasPooler ? "left-out" : "kept",
        ]);
      expect(stderr).toMatch(/replica-\d {3}restock_plan skipped: .* is held by replica-\d/);
      expect(stderr).toContain("is killed with SIGKILL");
      expect(stderr).toContain(await expectedPlan());
      expect(stderr).toContain(await expectedAudit());
      const svg = await readFile(join(folder, "all.svg"), "utf8");
      for (const word of ["killed", "lost", "failed", "skipped"]) expect(svg).toContain(word);
    },
    runMs,
  );

  it(
    "sees the promises broken, and ends with 1, when the coordinator excludes nobody",
    async () => {
      const { code, stdout } = await runDemo(["--unprotected", "--json", ...picture("none")]);
      const report = reportOf(stdout);
      expect({ code, ok: report.ok }).toEqual({ code: 1, ok: false });
      const scenes = new Set(broken(report).map(({ name }) => name));
      for (const name of ["contention", "two-graphs", "killed-holder", "cut-session", "record"])
        expect(scenes).toContain(name);
      const record = report.scenes.find(({ name }) => name === "record");
      expect(record?.checks[0]?.seen).toMatch(/^[1-9]\d* overlaps? /);
    },
    runMs,
  );

  it(
    "leaves no process behind when it is stopped in the middle of a run",
    async () => {
      const demo = startDemo(["--scene", "contention", ...picture("stopped")]);
      await demo.storyReaches("restock_plan granted");
      const pid = demo.child.pid ?? 0;
      process.kill(-pid, "SIGINT");
      const { code, stderr } = await demo.ended;
      expect(code).toBe(130);
      expect(stderr).toContain("Nothing is left running");
      expect(groupIsThere(pid)).toBe(false);
    },
    runMs,
  );
});

describe("the demo on a PostgreSQL that it is given", () => {
  let server: Database;
  beforeAll(async () => {
    server = await sharedPostgres();
  });
  afterAll(async () => {
    await server?.stop();
  });

  it(
    "plays one scene in a database of its own, keeps it when asked to, and drops it in the end",
    async () => {
      const databases = () =>
        server.query("SELECT datname FROM pg_database WHERE datname LIKE 'sole_writer_demo%'");
      const before = await databases();
      const demo = startDemo(
        ["--scene", "supplier-down", "--json", "--keep", ...picture("given")],
        { DATABASE_URL: server.url() },
      );
      await demo.storyReaches("stays until Ctrl-C");
      expect((await databases()).length).toBe(before.length + 1);
      demo.child.kill("SIGINT");
      const { code, stdout, stderr } = await demo.ended;
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stderr).not.toContain(`:${new URL(server.url()).password}@`);
      expect(reportOf(stdout).scenes.map(({ name }) => name)).toEqual(["supplier-down", "record"]);
      expect(await databases()).toEqual(before);
    },
    runMs,
  );

  it("says what is wrong when it does not answer, without a stack or the password", async () => {
    const { code, stdout, stderr } = await runDemo([], {
      DATABASE_URL: "postgres://clerk:open-sesame@127.0.0.1:1/warehouse",
    });
    expect(code).toBe(1);
    expect(stderr).toContain("ECONNREFUSED");
    expect(stderr).toContain("DATABASE_URL");
    expect(`${stdout}${stderr}`).not.toMatch(/open-sesame|\n {4}at /);
  });
});
