import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryCoordinator } from "@sole-writer/core/testing";
import { expect, it } from "vitest";
import { cases, law, openSuite } from "../src/cases.js";
import type { CoordinatorFactory } from "../src/index.js";
import { laws } from "../src/laws.js";
import { describeFindings, findingsOf, oraclePen, readOracle, runsOf } from "../src/oracle.js";

// The examples of the README, line by line: the test at the end compares them.

it("judges case by case", async () => {
  const lines: unknown[][] = [];
  const console = { log: (...line: unknown[]) => lines.push(line) };
  // Every coordinator has a store of its own, so nobody is kept out.
  const brokenFactory: CoordinatorFactory = { open: ({ app }) => memoryCoordinator({ app }) };

  const suite = await openSuite(brokenFactory);
  for (const one of cases.filter((one) => one.law === law.exclusion))
    console.log(one.name, (await suite.judge(one)).kind);
  await suite.close();

  expect(lines.length).toBeGreaterThan(2);
  expect(lines.every(([, kind]) => kind === "broken")).toBe(true);
});

it("reads the oracle", () => {
  const folder = mkdtempSync(join(tmpdir(), "oracle-"));
  const pen = oraclePen(join(folder, "oracle.jsonl"));
  for (const run of ["one", "two"])
    pen.write({ kind: "begin", app: "a", graph: "g", fence: 1n, pid: 1, run, at: 1n });
  pen.close();
  const lines: string[] = [];
  const console = { error: (line: string) => lines.push(line) };
  const here = process.cwd();
  try {
    process.chdir(folder);
    for (const sentence of describeFindings(findingsOf(runsOf(readOracle("oracle.jsonl")))))
      console.error(sentence);
  } finally {
    process.chdir(here);
    rmSync(folder, { recursive: true });
  }
  expect(lines).toHaveLength(4);
});

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
const linesOf = (text: string) => text.split("\n").map((line) => line.trim());

it("the examples in the README are the ones that are here", () => {
  const files = ["readme.test.ts", "support/readme-example.ts"];
  const here = linesOf(files.map(read).join("\n")).join("\n");
  const examples = [...read("../README.md").matchAll(/```ts\n([\s\S]*?)```/g)];
  expect(examples).toHaveLength(3);
  for (const [, example = "none"] of examples) {
    const code = linesOf(example).filter((line) => !line.startsWith("import "));
    expect(here).toContain(code.join("\n").trim());
  }
});

it("the README names every law, hook and option", () => {
  const readme = read("../README.md");
  for (const { name } of laws) expect(readme.toLowerCase()).toContain(name.toLowerCase());
  const hooks = [...read("../src/factory.ts").matchAll(/^ {2}(?:readonly )?(\w+)\?[:(]/gm)];
  expect(hooks.length).toBeGreaterThan(9);
  for (const [, hook] of hooks) expect(readme).toMatch(new RegExp(`\`(faults\\.)?${hook}[\`.]`));
});
