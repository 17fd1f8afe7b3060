import { describe, expect, it } from "vitest";
import { BackendError, isGrantLost } from "../src/index.js";
import type { Renewal } from "../src/term-port.js";
import { manualClock, memoryCoordinator, memoryStore } from "../src/testing/index.js";
import {
  deferred,
  errorOf,
  granted,
  refused,
  silence,
  thrownBy,
  watched,
} from "./support/promises.js";
import { lease, session } from "./support/scripted-port.js";
import { setup } from "./support/setup.js";

const done = { kind: "done" } as const;

describe("settling", () => {
  it("records ending and window, releases, and is announced once", async () => {
    const { coordinator, port, clock, events } = setup();
    const grant = await granted(coordinator.acquire("g", { window: "w" }));
    await clock.advance(40);
    const ending = { kind: "done", result: 42 } as const;
    await grant.settle(ending);
    expect(port.settles).toEqual([
      { term: expect.objectContaining({ fence: 1n }), ending, window: { id: "w" } },
    ]);
    expect(grant.ending).toBe(ending);
    expect(events.at(-1)).toMatchObject({ type: "settled", ending, heldMs: 40, fence: 1n });
    expect(port.abandoned).toEqual([]);
    expect(clock.pending).toBe(0);
    await granted(coordinator.acquire("g"));
  });

  it("a renewal under way while the grant is released is not a loss", async () => {
    const { coordinator, port, clock, typesOf } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const answer = deferred<Renewal[]>();
    const release = deferred<"settled">();
    port.onRenew = () => answer.promise;
    port.onSettle = () => release.promise;
    await clock.advance(300);
    const settled = watched(grant.settle(done));
    answer.resolve([{ state: "gone", cause: new Error("deleted by the release") }]);
    await clock.advance(1);
    release.resolve("settled");
    await clock.advance(0);
    expect(settled.now.state).toBe("resolved");
    expect(grant.signal.aborted).toBe(false);
    expect(typesOf()).toEqual(["granted", "settled"]);
    expect(clock.pending).toBe(0);
  });

  it("a session that ends because it was released is not a loss", async () => {
    const { coordinator, port, typesOf } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    port.onSettle = () => {
      port.takes[0]?.ended(new Error("closed by us"));
      return Promise.resolve("settled");
    };
    await grant.settle(done);
    port.takes[0]?.ended(new Error("closed by us"));
    expect(typesOf()).toEqual(["granted", "settled"]);
    expect(grant.signal.aborted).toBe(false);
  });

  it("a thousand short grants with a beat every 5 ms bring no loss and leave no timer", async () => {
    const clock = manualClock();
    const store = memoryStore(clock);
    const seen = new Map<string, number>();
    const coordinator = memoryCoordinator({
      store,
      ttlMs: 200,
      renewEveryMs: 5,
      onEvent: ({ type }) => seen.set(type, (seen.get(type) ?? 0) + 1),
    });
    for (let i = 0; i < 1_000; i++) {
      const grant = await granted(coordinator.acquire("g"));
      await clock.advance(10);
      grant.assertHeld();
      await grant.settle(done);
      expect(clock.pending).toBe(0);
    }
    expect(Object.fromEntries(seen)).toEqual({ granted: 1_000, renewed: 2_000, settled: 1_000 });
    expect(await coordinator.inspect("g")).toMatchObject([{ state: "free" }]);
  });

  it("a thousand short grants, each released in the middle of a beat, bring no loss either", async () => {
    const { coordinator, port, clock, typesOf } = setup({
      ...lease,
      ttlMs: 200,
      safetyMarginMs: 20,
      renewEveryMs: 5,
      renewTimeoutMs: 50,
    });
    const open = new Set<bigint>();
    port.onTake = async (request) => {
      const term = port.term("g");
      request.sending();
      open.add(term.fence);
      return { taken: true, term };
    };
    port.onSettle = async (term) => (open.delete(term.fence) ? "settled" : "gone");
    // Renewal and release are both at the backend, which sees the release first.
    port.onRenew = (terms) =>
      new Promise((resolve) =>
        clock.after(7, () =>
          resolve(
            terms.map((term) =>
              open.has(term.fence)
                ? { state: "held" }
                : { state: "gone", cause: new Error("released") },
            ),
          ),
        ),
      );
    for (let i = 0; i < 1_000; i++) {
      const grant = await granted(coordinator.acquire("g"));
      await clock.advance(10);
      await grant.settle(done);
    }
    await clock.advance(1_000);
    expect(new Set(typesOf())).toEqual(new Set(["granted", "renewed", "settled"]));
    expect(clock.pending).toBe(0);
  });

  it("the first ending counts; later and simultaneous calls change nothing and answer alike", async () => {
    const { coordinator, port, typesOf } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const failed = { kind: "failed", error: new Error("E") } as const;
    await Promise.all([grant.settle(failed), grant.settle(done), grant.settle(done)]);
    await grant.settle(done);
    await grant[Symbol.asyncDispose]();
    expect(grant.ending).toBe(failed);
    expect(port.settles.map((settle) => settle.ending)).toEqual([failed]);
    expect(typesOf()).toEqual(["granted", "settled"]);
  });

  it("settling after a loss throws the loss at once, asks nobody and records nothing", async () => {
    const { coordinator, port, clock, typesOf } = setup();
    const grant = await granted(coordinator.acquire("g", { window: "w" }));
    port.onRenew = () => silence();
    await clock.advance(900);
    expect(await errorOf(grant.settle(done))).toBe(grant.signal.reason);
    expect(await errorOf(grant.settle(done))).toBe(grant.signal.reason);
    expect(port.settles).toEqual([]);
    expect(port.abandoned).toHaveLength(1);
    expect(typesOf()).not.toContain("settled");
    expect(typesOf()).not.toContain("settle-failed");
    await clock.advance(lease.renewTimeoutMs);
    expect(clock.pending).toBe(0);
  });

  it("when the backend says that the term is gone, settling is a loss, told once", async () => {
    const { coordinator, port, typesOf, clock } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onSettle = async () => "gone";
    const error = await errorOf(grant.settle(done));
    expect(error).toMatchObject({ code: "GRANT_LOST", reason: "replaced" });
    expect(error).toBe(grant.signal.reason);
    expect(typesOf()).toEqual(["granted", "lost"]);
    expect(port.abandoned).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("with a silent backend it ends at its limit, and the next acquire may ask", async () => {
    const { coordinator, port, clock, typesOf } = setup(lease, { releaseTimeoutMs: 800 });
    const grant = await granted(coordinator.acquire("g"));
    port.onSettle = () => silence();
    const settled = watched(grant.settle(done));
    await clock.advance(799);
    expect(settled.now.state).toBe("pending");
    expect((await refused(coordinator.acquire("g"))).message).toContain("held by this process");
    await clock.advance(1);
    expect(settled.now).toMatchObject({
      state: "rejected",
      error: {
        code: "BACKEND_TIMEOUT",
        message:
          'Could not release "g" (scripted on script): no answer within releaseTimeoutMs 800. The ending may not be recorded; what is held ends by itself.',
      },
    });
    expect(port.abandoned).toHaveLength(1);
    expect(typesOf()).toEqual(["granted", "refused", "settle-failed"]);
    expect(clock.pending).toBe(0);
    await granted(coordinator.acquire("g"));
  });

  it("a release that fails is a BackendError with the cause, and no loss", async () => {
    const { coordinator, port } = setup();
    for (const [cause, expected] of [
      [new Error("reset"), { code: "BACKEND_FAULT", cause: { message: "reset" } }],
      [new BackendError("BACKEND_LOST", "cut"), { code: "BACKEND_LOST", message: "cut" }],
    ] as const) {
      const grant = await granted(coordinator.acquire("g"));
      port.onSettle = () => Promise.reject(cause);
      expect(await errorOf(grant.settle(done))).toMatchObject(expected);
      expect(grant.signal.aborted).toBe(false);
    }
  });

  it("a settled grant is not held any more, by its own word and without asking", async () => {
    const { coordinator, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    await grant.settle(done);
    expect(thrownBy(() => grant.assertHeld())).toMatchObject({ reason: "settled" });
    expect(isGrantLost(await errorOf(grant.confirmHeld()))).toBe(true);
    expect(grant.signal.aborted).toBe(false);
    expect(port.renews).toEqual([]);
  });

  it("disposing of a grant hands it back", async () => {
    const { coordinator, port } = setup();
    {
      await using grant = await granted(coordinator.acquire("g"));
      grant.assertHeld();
    }
    expect(port.settles).toMatchObject([
      { ending: { kind: "handed-back", reason: "disposed without an ending" } },
    ]);
  });

  it("disposing of a grant whose settling failed does not throw a second time", async () => {
    const { coordinator, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onSettle = () => Promise.reject(new Error("down"));
    await errorOf(grant.settle(done));
    await grant[Symbol.asyncDispose]();
  });
});
