import { expect, it } from "vitest";
import { isGrantLost, settleAfter } from "../src/index.js";
import { manualClock, memoryCoordinator } from "../src/testing/index.js";

async function granted(clock = manualClock()) {
  const grant = await memoryCoordinator({ clock, ttlMs: 10_000 }).acquire("g");
  if (!grant.granted) throw new Error(grant.message);
  return { grant, clock };
}

it("works and settles under a grant that is there already", async () => {
  const { grant } = await granted();
  expect(await settleAfter(grant, async ({ fence }) => fence)).toMatchObject({
    status: "ran",
    value: grant.fence,
  });
  expect(grant.ending).toEqual({ kind: "done" });
});

it("does not begin when the process stood still since the grant was given", async () => {
  const { grant, clock } = await granted();
  clock.stall(60_000);
  let begun = 0;
  const outcome = await settleAfter(grant, async () => {
    begun += 1;
  });
  expect(begun).toBe(0);
  expect(outcome).toMatchObject({ status: "lost" });
  expect(outcome).not.toHaveProperty("workError");
  expect(isGrantLost(grant.signal.reason)).toBe(true);
});
