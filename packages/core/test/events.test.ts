import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type CoordinatorEvent, type Observer, tick } from "../src/index.js";
import { manualClock, memoryCoordinator, memoryStore } from "../src/testing/index.js";

describe("events", () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each<[string, Observer]>([
    [
      "throws",
      () => {
        throw new Error("broken dashboard");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("broken dashboard");
      },
    ],
    [
      "throws what has no text form",
      () => {
        throw Object.create(null);
      },
    ],
  ])("an observer that %s disturbs nothing and becomes a warning", async (_, onEvent) => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const coordinator = memoryCoordinator({ clock: manualClock(), onEvent });
    expect(await tick(coordinator, "g", async () => 42)).toMatchObject({ status: "ran" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(warned).toHaveBeenCalledTimes(2);
    expect(warned).toHaveBeenCalledWith(
      expect.stringMatching(/^An observer of "g" threw on "granted": /),
      { type: "SoleWriterWarning", code: "SOLE_WRITER_OBSERVER" },
    );
  });

  it("an observer that throws on a loss does not keep the work from being told", async () => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const clock = manualClock();
    const coordinator = memoryCoordinator({
      clock,
      onEvent() {
        throw new Error("broken");
      },
    });
    const grant = await coordinator.acquire("g");
    if (!grant.granted) throw new Error("refused");
    clock.stall(60_000);
    await clock.advance(0);
    expect(grant.signal.aborted).toBe(true);
  });

  it("every event is published on its diagnostics channel, to subscribers of the whole process", async () => {
    const types = ["granted", "refused", "renewed", "settled", "acquire-failed"] as const;
    const seen: CoordinatorEvent[] = [];
    const listen = (event: unknown) => void seen.push(event as CoordinatorEvent);
    for (const type of types) subscribe(`sole-writer:${type}`, listen);
    const clock = manualClock();
    const store = memoryStore(clock);
    const coordinator = memoryCoordinator({ store, ttlMs: 3_000 });
    await tick(coordinator, "g", async () => {
      await coordinator.acquire("g");
      await clock.advance(1_000);
    });
    store.fault = new Error("down");
    await coordinator.acquire("g").catch(() => {});
    for (const type of types) unsubscribe(`sole-writer:${type}`, listen);
    expect(seen.map((event) => event.type)).toEqual([
      "granted",
      "refused",
      "renewed",
      "settled",
      "acquire-failed",
    ]);
    for (const event of seen)
      expect(event).toMatchObject({
        strategy: "in-process",
        backend: "memory",
        graph: "g",
        holder: coordinator.holder,
      });
    expect(types.some((type) => channel(`sole-writer:${type}`).hasSubscribers)).toBe(false);
  });
});
