import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { tick } from "../src/index.js";
import { manualClock, memoryCoordinator, memoryStore } from "../src/testing/index.js";

// The example of the README, character by character: the test at the end compares them.
it("runs on one replica only", async () => {
  const store = memoryStore(manualClock());
  const [a, b] = [memoryCoordinator({ store }), memoryCoordinator({ store })];
  const first = await tick(a, "restock_plan", async (grant) => {
    const second = await tick(b, "restock_plan", async () => "ran twice");
    expect(second.status).toBe("skipped");
    grant.assertHeld(); // throws when another replica may be writing
    return "planned";
  });
  expect(first).toMatchObject({ status: "ran", value: "planned" });
});

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

it("the example in the README is the one that runs here", () => {
  const example = /```ts\n[\s\S]*?\n(it\([\s\S]*?)```/.exec(read("../README.md"))?.[1] ?? "none";
  expect(read("readme.test.ts")).toContain(example);
});

it("the README explains every code and every event", () => {
  const readme = read("../README.md");
  const literals = (file: string, pattern: RegExp) =>
    [...read(file).matchAll(pattern)].map((match) => match[1] ?? "");
  const codes = literals("../src/errors.ts", /\| "([A-Z_]+)"/g);
  const events = literals("../src/events.ts", /EventOf<"([a-z-]+)">/g);
  expect(codes.length).toBeGreaterThan(10);
  expect(events.length).toBeGreaterThan(7);
  for (const name of [...codes, ...events]) expect(readme).toContain(`\`${name}\``);
});
