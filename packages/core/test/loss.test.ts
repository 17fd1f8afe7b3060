import { describe, expect, it } from "vitest";
import { isGrantLost } from "../src/index.js";
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

const hour = 3_600_000;
const down = new Error("down");
const unknown: Renewal = { state: "unknown", cause: down };
const gone: Renewal = { state: "gone", cause: new Error("somebody else") };

describe("staying alive", () => {
  it("healthy work that takes many leases is not told of a loss", async () => {
    const { coordinator, clock, port, typesOf } = setup();
    const grant = await granted(coordinator.acquire("g"));
    await clock.advance(50_000);
    grant.assertHeld();
    expect(grant.signal.aborted).toBe(false);
    expect(port.renews.length).toBeGreaterThan(150);
    expect(typesOf()).not.toContain("lost");
  });

  it("all grants of a coordinator are renewed in one request", async () => {
    const { coordinator, clock, port } = setup();
    for (const graph of ["a", "b", "c"]) await granted(coordinator.acquire(graph));
    await clock.advance(300);
    expect(port.renews).toEqual([{ atMs: 300, graphs: ["a", "b", "c"] }]);
  });

  it.each([
    ["fails", () => Promise.reject(down)],
    [
      "throws at once",
      () => {
        throw down;
      },
    ],
    ["says that it does not know", async () => [unknown]],
    ["is never answered", () => silence<Renewal[]>()],
    ["is answered for nobody", async () => []],
  ])("one beat that %s is tolerated, and the next one follows sooner", async (_, beat) => {
    const { coordinator, clock, port, events } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const good = port.onRenew;
    port.onRenew = beat;
    await clock.advance(300);
    port.onRenew = good;
    await clock.advance(10_000);
    grant.assertHeld();
    const [first, second] = port.renews;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeLessThan(lease.renewEveryMs);
    expect(events.filter((event) => event.type === "renewal-failed")).toMatchObject([
      { fence: 1n, graph: "g" },
    ]);
    expect(events.filter((event) => event.type === "lost")).toEqual([]);
  });

  it("a beat that found nobody to ask for does not keep a grant that begins just then from its beats", async () => {
    const { coordinator, clock, port } = setup();
    const release = deferred<"settled">();
    port.onSettle = () => release.promise;
    const first = await granted(coordinator.acquire("a"));
    // Its release is under way, so the beat at 300 finds nobody; another grant begins in that beat.
    const settled = first.settle({ kind: "done" });
    clock.after(300, () => void coordinator.acquire("b"));
    port.onTake = async (request) => ({ taken: true, term: port.term(request.graph) });
    await clock.advance(300);
    release.resolve("settled");
    await settled;
    await clock.advance(10_000);
    expect(port.renews.length).toBeGreaterThan(20);
    expect(port.renews[0]?.graphs).toEqual(["b"]);
  });
});

describe("loss", () => {
  it("is told when the window since the last good request was sent is over, once, and with reason", async () => {
    const { coordinator, clock, port, events } = setup();
    const grant = await granted(coordinator.acquire("g"));
    let aborts = 0;
    grant.signal.addEventListener("abort", () => (aborts += 1));
    await clock.advance(600);
    port.onRenew = () => Promise.reject(down);
    await clock.advance(899);
    expect(grant.signal.aborted).toBe(false);
    grant.assertHeld();
    await clock.advance(1);
    expect(grant.signal.aborted).toBe(true);
    await clock.advance(60_000);
    expect(aborts).toBe(1);
    const lost = events.filter((event) => event.type === "lost");
    expect(lost).toHaveLength(1);
    expect(lost[0]?.error).toBe(grant.signal.reason);
    expect(grant.signal.reason).toMatchObject({
      code: "GRANT_LOST",
      reason: "unconfirmed",
      fence: 1n,
      graph: "g",
      cause: { code: "BACKEND_FAULT", cause: down },
      message:
        'Lost the grant on "g" (scripted on script, fence 1): last confirmed 900 ms ago, ttlMs 1,000, safetyMarginMs 100: Could not renew (scripted on script): down. A grant is not lost by that alone; the next renewal follows. Another replica may be writing; this run must stop.',
    });
    expect(thrownBy(() => grant.assertHeld())).toBe(grant.signal.reason);
    expect(clock.pending).toBe(0);
  });

  it("a backend that accepts and never answers is a loss at the same moment", async () => {
    const { coordinator, clock, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    await clock.advance(899);
    expect(grant.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(grant.signal.reason).toMatchObject({ cause: { code: "BACKEND_TIMEOUT" } });
  });

  it("the same holds for a session, as long as the event loop runs", async () => {
    const { coordinator, clock, port } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    await clock.advance(899);
    expect(grant.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(grant.signal.aborted).toBe(true);
  });

  it("with every reply slow, the holder never believes longer than the backend", async () => {
    const { coordinator, clock, port } = setup();
    let backendEndsAt = 0;
    port.onTake = async (request) => {
      request.sending();
      backendEndsAt = clock.now() + lease.ttlMs;
      return { taken: true, term: port.term("g") };
    };
    port.onRenew = (terms) => {
      backendEndsAt = clock.now() + lease.ttlMs;
      return new Promise((resolve) =>
        clock.after(750, () => resolve(terms.map(() => ({ state: "held" })))),
      );
    };
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    for (let i = 0; i < 300; i++) {
      await clock.advance(10);
      if (!grant.signal.aborted) expect(clock.now()).toBeLessThan(backendEndsAt);
    }
    expect(grant.signal.aborted).toBe(true);
  });

  it("the backend's word that another holds it is a loss at once", async () => {
    const { coordinator, clock, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = async () => [gone];
    await clock.advance(300);
    expect(grant.signal.reason).toMatchObject({ reason: "replaced", cause: gone.cause });
    expect(grant.signal.reason).toHaveProperty(
      "message",
      expect.stringContaining("no longer ours (last confirmed 300 ms ago): somebody else. Another"),
    );
    await clock.advance(10_000);
    expect(port.renews).toHaveLength(1);
  });

  it("a renewal that is answered after the loss never revives the grant", async () => {
    const { coordinator, clock, port, typesOf } = setup({ ...lease, renewTimeoutMs: 5_000 });
    const grant = await granted(coordinator.acquire("g"));
    const answer = deferred<Renewal[]>();
    port.onRenew = () => answer.promise;
    await clock.advance(900);
    expect(grant.signal.aborted).toBe(true);
    answer.resolve([{ state: "held" }]);
    await clock.advance(2_000);
    expect(isGrantLost(thrownBy(() => grant.assertHeld()))).toBe(true);
    expect(isGrantLost(await errorOf(grant.confirmHeld()))).toBe(true);
    expect(typesOf()).toEqual(["granted", "lost"]);
    expect(port.renews).toHaveLength(1);
  });

  it("a lease that outlived its window in a stalled event loop is lost, and its holder told once", async () => {
    const { coordinator, clock, port, typesOf } = setup(lease);
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    clock.stall(3_000);
    await clock.advance(0);
    expect(grant.signal.reason).toMatchObject({ reason: "unconfirmed" });
    await clock.advance(5_000);
    expect(typesOf().filter((type) => type === "lost")).toHaveLength(1);
    expect(port.settles).toEqual([]);
  });

  it("assertHeld in the first step after a stall says no, before any timer has run, and stays with it", async () => {
    for (const life of [lease, session]) {
      const { coordinator, clock } = setup(life);
      const grant = await granted(coordinator.acquire("g"));
      clock.stall(900);
      expect(isGrantLost(thrownBy(() => grant.assertHeld()))).toBe(true);
      expect(grant.signal.aborted).toBe(true);
      await clock.advance(10_000);
      expect(thrownBy(() => grant.assertHeld())).toBe(grant.signal.reason);
    }
  });

  it("after a stall in which another holder came and went, the holder is told and changes nothing", async () => {
    const clock = manualClock();
    const store = memoryStore(clock);
    const a = memoryCoordinator({ store, ttlMs: 1_000, clock });
    const b = memoryCoordinator({ store, ttlMs: 1_000, clock });
    const old = await granted(a.acquire("g"));
    clock.stall(3_000);
    const newer = await granted(b.acquire("g"));
    await newer.settle({ kind: "done" });
    const before = structuredClone(store.graphs("test").get("g"));
    await clock.advance(500);
    expect(isGrantLost(old.signal.reason)).toBe(true);
    expect(isGrantLost(await errorOf(old.settle({ kind: "done" })))).toBe(true);
    expect(store.graphs("test").get("g")).toEqual(before);
  });

  it("a stale holder that renews, finishes, fails or hands back leaves the new holder's record as it is", async () => {
    const endings = [
      { kind: "done" },
      { kind: "failed", error: new Error("E") },
      { kind: "handed-back", reason: "r" },
      { kind: "waiting", on: "x" },
    ] as const;
    for (const ending of endings) {
      const clock = manualClock();
      const store = memoryStore(clock);
      const a = memoryCoordinator({ store, ttlMs: 1_000 });
      const b = memoryCoordinator({ store, ttlMs: 100_000 });
      const old = await granted(a.acquire("g"));
      clock.stall(1_001);
      const newer = await granted(b.acquire("g"));
      const before = structuredClone(store.graphs("test").get("g"));
      const confirmed = watched(old.confirmHeld());
      const settled = watched(old.settle(ending));
      await clock.advance(2_000);
      expect(confirmed.now).toMatchObject({ state: "rejected", error: { code: "GRANT_LOST" } });
      expect(settled.now).toMatchObject({ state: "rejected", error: { code: "GRANT_LOST" } });
      expect(store.graphs("test").get("g")).toEqual(before);
      newer.assertHeld();
    }
  });

  it("a wall clock that jumps an hour on or back is neither a loss nor a longer belief", async () => {
    for (const shiftMs of [hour, -hour]) {
      const { coordinator, clock, port } = setup();
      const grant = await granted(coordinator.acquire("g"));
      clock.shiftWall(shiftMs);
      await clock.advance(5_000);
      grant.assertHeld();
      expect(port.renews).toHaveLength(16);
      port.onRenew = () => silence();
      clock.shiftWall(-2 * shiftMs);
      await clock.advance(4_800 + 900 - 5_000 - 1);
      grant.assertHeld();
      await clock.advance(1);
      expect(grant.signal.aborted).toBe(true);
    }
  });

  it("until the lost run has settled, its process is refused without a wrong name", async () => {
    const { coordinator, clock, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    await clock.advance(900);
    const refusal = await refused(coordinator.acquire("g"));
    expect(refusal.holder).toBeUndefined();
    expect(refusal.message).toContain("was lost by this process");
    await errorOf(grant.settle({ kind: "done" }));
    expect(port.abandoned).toMatchObject([{ fence: 1n }]);
    await granted(coordinator.acquire("g"));
  });

  it("the work is told before those who only watch", async () => {
    const clock = manualClock();
    const store = memoryStore(clock);
    const seen: string[] = [];
    const coordinator = memoryCoordinator({
      store,
      onEvent: (event) => seen.push(event.type),
    });
    const grant = await granted(coordinator.acquire("g"));
    grant.signal.addEventListener("abort", () => seen.push("told"));
    clock.stall(60_000);
    await clock.advance(0);
    expect(seen).toEqual(["granted", "told", "lost"]);
  });
});

describe("a session", () => {
  it("that ends is a loss at once, with the cause", async () => {
    const { coordinator, port } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    const cause = new Error("terminated by the administrator.");
    port.takes[0]?.ended(cause);
    port.takes[0]?.ended(cause);
    expect(grant.signal.reason).toMatchObject({ reason: "session-ended", cause });
    expect(grant.signal.reason.message).toContain(
      "is over (last confirmed 0 ms ago): terminated by the administrator. Another",
    );
  });

  it("that lived through a stall of its process is kept, and a new request confirms it", async () => {
    const { coordinator, clock, port, typesOf } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    clock.stall(30_000);
    await clock.advance(0);
    expect(grant.signal.aborted).toBe(false);
    grant.assertHeld();
    await clock.advance(10_000);
    grant.assertHeld();
    expect(typesOf()).not.toContain("lost");
    expect(port.renews[0]?.atMs).toBe(30_000);
  });

  it("an answer to a request from before the stall does not confirm it", async () => {
    const { coordinator, clock, port } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    const answers: { resolve(value: Renewal[]): void }[] = [];
    port.onRenew = () => {
      const answer = deferred<Renewal[]>();
      answers.push(answer);
      return answer.promise;
    };
    await clock.advance(300);
    clock.stall(30_000);
    answers[0]?.resolve([{ state: "held" }]);
    await clock.advance(0);
    expect(port.renews.map((renew) => renew.atMs)).toEqual([300, 30_300]);
    expect(grant.signal.aborted).toBe(false);
    answers[1]?.resolve([gone]);
    await clock.advance(0);
    expect(grant.signal.reason).toMatchObject({ reason: "session-ended", cause: gone.cause });
  });

  it("does not wait for a request from before the stall, but asks anew", async () => {
    const { coordinator, clock, port } = setup({ ...session, renewTimeoutMs: 5_000 });
    const grant = await granted(coordinator.acquire("g"));
    const good = port.onRenew;
    port.onRenew = () => silence();
    await clock.advance(300);
    port.onRenew = good;
    clock.stall(2_000);
    await clock.advance(0);
    expect(port.renews.map((renew) => renew.atMs)).toEqual([300, 2_300]);
    await clock.advance(10_000);
    grant.assertHeld();
  });

  it("that the backend does not confirm after a stall is lost within one time limit", async () => {
    const { coordinator, clock, port, typesOf } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    await clock.advance(299);
    port.onRenew = () => silence();
    await clock.advance(1);
    clock.stall(30_000);
    await clock.advance(199);
    expect(grant.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(grant.signal.reason).toMatchObject({ reason: "unconfirmed" });
    expect(typesOf().filter((type) => type === "lost")).toHaveLength(1);
  });

  it("hundreds of them ask together after a stall", async () => {
    const { coordinator, clock, port } = setup(session);
    for (let i = 0; i < 300; i++) await granted(coordinator.acquire(`g${i}`));
    clock.stall(30_000);
    await clock.advance(0);
    expect(port.renews.map((renew) => renew.graphs.length)).toEqual([300]);
  });

  it("settling during the question after a stall is an ending and no loss", async () => {
    const { coordinator, clock, port, typesOf } = setup(session);
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    clock.stall(30_000);
    await clock.advance(0);
    await grant.settle({ kind: "done" });
    await clock.advance(1_000);
    expect(typesOf()).not.toContain("lost");
    expect(clock.pending).toBe(0);
  });
});

describe("confirmHeld", () => {
  it.each([lease, session])("extends a $kind by the word of the backend", async (life) => {
    const { coordinator, clock } = setup(life);
    const grant = await granted(coordinator.acquire("g"));
    clock.stall(30_000);
    await grant.confirmHeld();
    grant.assertHeld();
  });

  it("is a loss when the backend says so", async () => {
    const { coordinator, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = async () => [gone];
    expect(await errorOf(grant.confirmHeld())).toBe(grant.signal.reason);
  });

  it("is an error within its limit, and no loss, when the backend does not say", async () => {
    const { coordinator, clock, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    port.onRenew = () => silence();
    const asked = watched(grant.confirmHeld());
    await clock.advance(200);
    expect(asked.now).toMatchObject({ state: "rejected", error: { code: "BACKEND_TIMEOUT" } });
    grant.assertHeld();
    port.onRenew = () => Promise.reject(down);
    expect(await errorOf(grant.confirmHeld())).toMatchObject({
      code: "BACKEND_FAULT",
      cause: down,
    });
  });

  it("says that the grant was settled, when it was meanwhile", async () => {
    const { coordinator, port } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const answer = deferred<Renewal[]>();
    port.onRenew = () => answer.promise;
    const asked = errorOf(grant.confirmHeld());
    await grant.settle({ kind: "done" });
    answer.resolve([gone]);
    expect(await asked).toMatchObject({ reason: "settled" });
    expect(grant.signal.aborted).toBe(false);
  });
});
