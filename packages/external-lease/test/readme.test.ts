import { readFileSync } from "node:fs";
import { tick } from "@sole-writer/core";
import { sharedRedis } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { redisLease } from "../src/redis/index.js";

const { url } = await sharedRedis();

// The example of the README, character by character: the test at the end compares them.
it("runs the tick under a lease", async () => {
  const coordinator = redisLease({ app: "warehouse", url, ttlMs: 10_000 });
  const outcome = await tick(coordinator, "price_feed", async (grant) => {
    grant.signal.throwIfAborted(); // aborts when the lease is not certain: give it to everything you call
    return grant.fence; // send it along, and let the other side refuse a lower one
  });
  expect(outcome.status).toBe("ran");
  await coordinator.close();
});

it("the example in the README is the one that runs here", () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
  const example = /```ts\n(it\([\s\S]*?)```/.exec(read("../README.md"))?.[1] ?? "none";
  expect(read("readme.test.ts")).toContain(example);
});
