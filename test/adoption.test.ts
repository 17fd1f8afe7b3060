import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sharedPostgres } from "@sole-writer/testbed";
import { afterEach, expect, it } from "vitest";

interface Replica {
  restock(window: string): Promise<string>;
  stop(): Promise<void>;
}

const replicas: Replica[] = [];
afterEach(() => Promise.all(replicas.splice(0).map((replica) => replica.stop())));

/** The example twice, as two replicas would load it, on a database with one article that is low. */
async function warehouse(version: "before" | "after") {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  await server.query("create table stock (article text, left_ int)", [], url);
  await server.query("create table ordered (article text)", [], url);
  await server.query("insert into stock values ('tape', 3)", [], url);
  process.env.DATABASE_URL = url;
  const file = new URL(`./dist/adoption/${version}.js`, import.meta.url);
  for (const replica of ["a", "b"])
    replicas.push((await import(`${file.href}?${version}-${replica}`)) as Replica);
  const ordered = async () =>
    (await server.query<{ article: string }>("select article from ordered", [], url)).length;
  return { ordered };
}

const restock = (window: string) => Promise.all(replicas.map((replica) => replica.restock(window)));
const windows = Array.from({ length: 20 }, (_, at) => new Date(at * 300_000).toISOString());

it("before: replicas that look and then invoke order twice", async () => {
  const { ordered } = await warehouse("before");
  for (const window of windows) await restock(window);
  expect(await ordered()).toBeGreaterThan(windows.length);
});

it("after: one of them orders, in every window", async () => {
  const { ordered } = await warehouse("after");
  for (const window of windows) expect((await restock(window)).sort()).toEqual(["ran", "skipped"]);
  expect(await ordered()).toBe(windows.length);
  expect(await restock(windows[0] ?? "")).toEqual(["skipped", "skipped"]);
  expect(await ordered()).toBe(windows.length);
});

it("the page shows the difference between the two files, line by line", () => {
  const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
  const { stdout } = spawnSync(
    "git",
    [
      "diff",
      "--no-index",
      "-U2",
      path("./src/adoption/before.ts"),
      path("./src/adoption/after.ts"),
    ],
    { encoding: "utf8" },
  );
  const hunks = stdout
    .slice(stdout.indexOf("@@"))
    .replace(/^@@.*$/gm, "@@")
    .trimEnd();
  const page = readFileSync(path("../docs/adopt.md"), "utf8");
  const shown = /```diff\n([\s\S]*?)\n```/.exec(page)?.[1];
  expect(shown).toBe(hunks);
});
