import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CoordinatorEvent, Grant } from "../src/index.js";
import type { Renewal } from "../src/term-port.js";
import { manualClock, memoryCoordinator, memoryStore } from "../src/testing/index.js";
import { watched } from "./support/promises.js";
import { setup } from "./support/setup.js";

/** One step of a schedule; `by` says which replica does it. */
type Step =
  | { readonly do: "acquire" | "settle" | "confirm"; readonly by: number }
  | { readonly do: "advance" | "stall" | "shiftWall"; readonly ms: number }
  | { readonly do: "down" | "up" | "loseData" };

const by = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("acquire" as const), by }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("settle" as const), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("confirm" as const), by }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat({ max: 700 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("stall" as const), ms: fc.nat({ max: 2_500 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("shiftWall" as const),
      ms: fc.integer({ min: -3_600_000, max: 3_600_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "down" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "up" as const }) },
);

function isHeld(grant: Grant): boolean {
  try {
    grant.assertHeld();
    return true;
  } catch {
    return false;
  }
}

describe("under any schedule", () => {
  it("at most one of three replicas believes that it holds the graph, fences rise, and every grant ends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = manualClock();
        const store = memoryStore(clock);
        const events: CoordinatorEvent[] = [];
        const replicas = ["a", "b", "c"].map((label) =>
          memoryCoordinator({
            store,
            label,
            ttlMs: 1_000,
            onEvent: (event) => events.push(event),
          }),
        );
        const grants: Grant[] = [];
        const latest = new Map<number, Grant>();

        for (const now of steps) {
          if (now.do === "acquire") {
            const answer = await replicas[now.by]?.acquire("g").catch(() => undefined);
            if (answer?.granted) {
              // Before the holder's belief is looked at: asking for it would end an overdue one.
              expect(answer.fence).toBeGreaterThan(grants.at(-1)?.fence ?? 0n);
              grants.push(answer);
              latest.set(now.by, answer);
            }
          } else if (now.do === "settle")
            await latest
              .get(now.by)
              ?.settle({ kind: "done" })
              .catch(() => {});
          else if (now.do === "confirm")
            await latest
              .get(now.by)
              ?.confirmHeld()
              .catch(() => {});
          else if (now.do === "advance") await clock.advance(now.ms);
          else if (now.do === "stall") clock.stall(now.ms);
          else if (now.do === "shiftWall") clock.shiftWall(now.ms);
          else store.fault = now.do === "down" ? new Error("down") : undefined;

          expect(grants.filter(isHeld).length).toBeLessThanOrEqual(1);
        }

        store.fault = undefined;
        const closed = watched(Promise.all(replicas.map((one) => one.close({ graceMs: 100 }))));
        await clock.advance(20_000);
        expect(closed.now.state).toBe("resolved");
        expect(clock.pending).toBe(0);
        for (const grant of grants) {
          const own = events.filter((event) => "fence" in event && event.fence === grant.fence);
          const ends = own.filter(({ type }) => type !== "renewed" && type !== "renewal-failed");
          expect(ends.map((event) => event.type)).toHaveLength(2);
          expect(ends[0]?.type).toBe("granted");
          expect(["lost", "settled", "settle-failed"]).toContain(ends[1]?.type);
          expect(grant.signal.aborted).toBe(ends[1]?.type === "lost");
        }
      }),
      { numRuns: 300 },
    );
  });

  it("no holder believes longer than its backend, whatever becomes of its renewals", async () => {
    const beat = fc.record({
      fate: fc.constantFrom(
        "held" as const,
        "unknown" as const,
        "fail" as const,
        "silent" as const,
      ),
      toBackendMs: fc.nat({ max: 300 }),
      toUsMs: fc.nat({ max: 400 }),
    });
    const stalls = fc.array(
      fc.record({ afterMs: fc.nat({ max: 900 }), ms: fc.nat({ max: 1_500 }) }),
      {
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(beat, { maxLength: 30 }), stalls, async (beats, pauses) => {
        const { coordinator, port, clock } = setup();
        let endsAt = 0;
        port.onTake = async (request) => {
          request.sending();
          endsAt = clock.now() + port.life.ttlMs;
          return { taken: true, term: port.term("g") };
        };
        const waitFor = (ms: number) =>
          new Promise<void>((resolve) => void clock.after(ms, resolve));
        port.onRenew = async (terms): Promise<readonly Renewal[]> => {
          const now = beats.shift();
          if (!now || now.fate === "silent") return new Promise(() => {});
          await waitFor(now.toBackendMs);
          const alive = clock.now() < endsAt;
          if (alive && now.fate !== "fail") endsAt = clock.now() + port.life.ttlMs;
          await waitFor(now.toUsMs);
          if (now.fate === "fail") throw new Error("cut");
          if (now.fate === "unknown") return terms.map(() => ({ state: "unknown", cause: 0 }));
          return terms.map(() => (alive ? { state: "held" } : { state: "gone", cause: 0 }));
        };
        const grant = await coordinator.acquire("g");
        if (!grant.granted) throw new Error("refused");
        const check = () => {
          if (isHeld(grant)) expect(clock.now()).toBeLessThan(endsAt);
        };
        const look = () => {
          if (grant.signal.aborted) return;
          check();
          clock.after(25, look);
        };
        look();
        for (const { afterMs, ms } of pauses) {
          await clock.advance(afterMs);
          clock.stall(ms);
          check();
        }
        await clock.advance(60_000);
        expect(grant.signal.aborted).toBe(true);
        await grant.settle({ kind: "done" }).catch(() => {});
        await clock.advance(5_000);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
