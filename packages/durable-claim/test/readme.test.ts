import { readFileSync } from "node:fs";
import { type Grant, settleAfter } from "@sole-writer/core";
import { expect, it } from "vitest";
import { durableClaim } from "../src/index.js";
import { openDatabase } from "./support/open.js";

const { url } = await openDatabase();
const shipped: unknown[] = [];
const ship = async (grant: Grant) => shipped.push(grant.unit?.payload);

// The example of the README, character by character: the test at the end compares them.
it("works off what was submitted", async () => {
  const coordinator = durableClaim({ app: "warehouse", url });
  await coordinator.submit("fulfil_order", { key: "order 7", payload: { order: 7 } });

  // On every replica:
  const stop = new AbortController();
  while (!stop.signal.aborted) {
    const grants = await coordinator.claim({ limit: 10 }); // one of each graph at most
    await Promise.all(grants.map((grant) => settleAfter(grant, ship)));
    if ((await coordinator.backlog("fulfil_order")).length === 0) stop.abort();
    else await coordinator.whenDue({ signal: stop.signal });
  }
  expect(shipped).toEqual([{ order: 7 }]);
  await coordinator.close();
});

it("the example in the README is the one that runs here", () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
  const example = /```ts\n(it\([\s\S]*?)```/.exec(read("../README.md"))?.[1] ?? "none";
  expect(read("readme.test.ts")).toContain(example);
});
