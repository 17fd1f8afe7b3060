import { describe, expect, it, vi } from "vitest";
import { BackendError, isBackendError } from "../src/index.js";
import type { TakeAnswer, TakeRequest, Term } from "../src/term-port.js";
import { manualClock, memoryCoordinator, memoryStore } from "../src/testing/index.js";
import { deferred, errorOf, granted, refused, silence, watched } from "./support/promises.js";
import { session } from "./support/scripted-port.js";
import { setup } from "./support/setup.js";

const rival = { id: "r", label: "rival:1", since: new Date(0), fence: 7n };
const busy: TakeAnswer<Term> = { taken: false, reason: "held", holder: rival };

describe("asking", () => {
  it("a grant carries graph, holder and fence, and is announced once", async () => {
    const { coordinator, events } = setup();
    const grant = await granted(coordinator.acquire("g"));
    expect(grant).toMatchObject({ graph: "g", fence: 1n });
    expect(grant.holder).toEqual({ ...coordinator.holder, since: new Date(0), fence: 1n });
    expect(events).toMatchObject([{ type: "granted", graph: "g", fence: 1n, tookMs: 0 }]);
  });

  it("a rival's hold is a refusal that names the rival, not an error", async () => {
    const { coordinator, port, events, clock } = setup();
    port.onTake = async () => busy;
    const refusal = await refused(coordinator.acquire("g"));
    expect(refusal).toMatchObject({ reason: "held", graph: "g", holder: rival });
    expect(refusal.message).toBe(
      '"g" is held by rival:1 since 1970-01-01T00:00:00.000Z (fence 7).',
    );
    expect(events).toMatchObject([{ type: "refused", refusal }]);
    expect(clock.pending).toBe(0);
  });

  it("a fault is an error with the cause, never a refusal and never a grant", async () => {
    const { coordinator, port, events, clock } = setup();
    const cause = new Error("ECONNREFUSED.");
    port.onTake = async () => {
      throw cause;
    };
    const error = await errorOf(coordinator.acquire("g"));
    expect(error).toMatchObject({ code: "BACKEND_FAULT", cause });
    expect(error).toHaveProperty(
      "message",
      'Could not ask for "g" (scripted on script): ECONNREFUSED. Nothing was run. Look whether script is up and reachable.',
    );
    expect(events).toMatchObject([{ type: "acquire-failed", error }]);
    expect(clock.pending).toBe(0);
  });

  it("a port's own BackendError reaches the caller as it is", async () => {
    const { coordinator, port } = setup();
    const own = new BackendError("BACKEND_AUTH", "wrong password");
    port.onTake = () => Promise.reject(own);
    expect(await errorOf(coordinator.acquire("g"))).toBe(own);
    expect(own.transient).toBe(false);
  });

  it("a port that throws at once leaves neither a turn nor a timer behind", async () => {
    const { coordinator, port, clock } = setup();
    port.onTake = () => {
      throw new TypeError("broken");
    };
    expect(await errorOf(coordinator.acquire("g"))).toMatchObject({ code: "BACKEND_FAULT" });
    expect(clock.pending).toBe(0);
    port.onTake = async () => busy;
    await refused(coordinator.acquire("g"));
  });

  it("a hundred refused tries leave no timer and no listener behind", async () => {
    const { coordinator, port, clock } = setup();
    port.onTake = async () => busy;
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    for (let i = 0; i < 100; i++) await refused(coordinator.acquire("g", { signal }));
    expect(clock.pending).toBe(0);
    expect(add.mock.calls.length).toBeGreaterThan(0);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });

  it("two hundred acquires at once under one signal bring no warning of a leak", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { coordinator, port } = setup();
    port.onTake = async () => busy;
    const { signal } = new AbortController();
    const graphs = Array.from({ length: 200 }, (_, i) => `g${i}`);
    await Promise.all(graphs.map((graph) => coordinator.acquire(graph, { signal })));
    await new Promise((resolve) => setImmediate(resolve));
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it("the port is told window, interval and the time that is left", async () => {
    const { coordinator, port } = setup();
    await coordinator.acquire("g", {
      window: "2026-07-01T12:00Z",
      minIntervalMs: 5,
      acquireTimeoutMs: 70,
    });
    expect(port.takes[0]).toMatchObject({
      graph: "g",
      window: { id: "2026-07-01T12:00:00.000Z" },
      minIntervalMs: 5,
      timeoutMs: 70,
    });
  });
});

describe("two callers in one process", () => {
  it("one of two at once is granted, the other is told that this process holds it", async () => {
    const { coordinator, port } = setup();
    const [first, second] = await Promise.all([coordinator.acquire("g"), coordinator.acquire("g")]);
    if (!first.granted || second.granted) throw new Error("not exactly the first was granted");
    expect(second).toMatchObject({ reason: "held", holder: first.holder });
    expect(second.message).toBe('"g" is held by this process (me, fence 1).');
    expect(port.takes).toHaveLength(1);
    await first.settle({ kind: "done" });
    const third = await granted(coordinator.acquire("g"));
    expect(third.fence).toBe(2n);
  });

  it("a run that asks for its own graph is refused, not deadlocked", async () => {
    const { coordinator } = setup();
    await granted(coordinator.acquire("g"));
    expect((await refused(coordinator.acquire("g"))).message).toContain("held by this process");
  });

  it("when the first of two is refused by a rival, the second is told about the rival", async () => {
    const { coordinator, port } = setup();
    const answer = deferred<TakeAnswer<Term>>();
    port.onTake = () => answer.promise;
    const both = [coordinator.acquire("g"), coordinator.acquire("g")];
    answer.resolve(busy);
    for (const one of both) {
      const refusal = await refused(one);
      expect(refusal.holder).toEqual(rival);
      expect(refusal.message).not.toContain("this process");
    }
  });

  it("when the first of two fails, the second asks for itself", async () => {
    const { coordinator, port, clock } = setup();
    const answer = deferred<TakeAnswer<Term>>();
    port.onTake = () => answer.promise;
    const first = errorOf(coordinator.acquire("g"));
    const second = coordinator.acquire("g");
    await clock.advance(0);
    answer.reject(new Error("down"));
    port.onTake = async () => ({ taken: true, term: port.term("g") });
    expect(await first).toMatchObject({ code: "BACKEND_FAULT" });
    await granted(second);
  });

  it("the second waits for the first one's answer at most as long as its own limit", async () => {
    const { coordinator, port, clock } = setup();
    port.onTake = () => silence();
    const first = watched(coordinator.acquire("g"));
    const second = watched(coordinator.acquire("g", { acquireTimeoutMs: 100 }));
    await clock.advance(100);
    expect(first.now.state).toBe("pending");
    expect(second.now).toMatchObject({
      state: "rejected",
      error: { code: "BACKEND_TIMEOUT" },
    });
    expect(port.takes).toHaveLength(1);
  });

  it("an acquire that had to wait for its turn has only the rest of its time for the answer", async () => {
    const { coordinator, port, clock } = setup();
    const answer = deferred<TakeAnswer<Term>>();
    port.onTake = () => answer.promise;
    void coordinator.acquire("g").catch(() => {});
    const second = watched(coordinator.acquire("g", { acquireTimeoutMs: 1_000 }));
    await clock.advance(700);
    port.onTake = () => silence();
    answer.resolve(busy);
    await clock.advance(0);
    expect(port.takes[1]?.timeoutMs).toBe(300);
    await clock.advance(299);
    expect(second.now.state).toBe("pending");
    await clock.advance(1);
    expect(second.now).toMatchObject({ state: "rejected", error: { code: "BACKEND_TIMEOUT" } });
  });

  it("graphs do not wait for each other", async () => {
    const { coordinator, port } = setup();
    port.onTake = (request) =>
      request.graph === "slow"
        ? silence()
        : Promise.resolve({ taken: true, term: port.term(request.graph) });
    void coordinator.acquire("slow").catch(() => {});
    await granted(coordinator.acquire("slower"));
  });
});

describe("an acquire that was given up", () => {
  async function late(giveUp: "timeout" | "abort") {
    const made = setup();
    const { coordinator, port, clock } = made;
    const answer = deferred<TakeAnswer<Term>>();
    const release = deferred<"settled">();
    const controller = new AbortController();
    let asked: TakeRequest | undefined;
    port.onTake = (request) => {
      asked = request;
      return answer.promise;
    };
    port.onSettle = () => release.promise;
    const first = watched(
      coordinator.acquire("g", { acquireTimeoutMs: 50, signal: controller.signal }),
    );
    await clock.advance(0);
    if (giveUp === "timeout") await clock.advance(50);
    else controller.abort(new Error("changed my mind"));
    await clock.advance(0);
    return { ...made, answer, release, first, asked };
  }

  it.each(["timeout", "abort"] as const)(
    "after a %s, what the backend grants late is handed back before the next acquire asks",
    async (how) => {
      const { coordinator, port, clock, answer, release, first, asked } = await late(how);
      expect(first.now).toMatchObject({
        state: "rejected",
        error: { code: how === "timeout" ? "BACKEND_TIMEOUT" : "ACQUIRE_ABORTED" },
      });
      expect(asked?.signal.aborted).toBe(true);

      const second = watched(coordinator.acquire("g"));
      await clock.advance(10);
      expect(port.takes).toHaveLength(1);
      answer.resolve({ taken: true, term: port.term("g") });
      await clock.advance(10);
      expect(port.settles).toMatchObject([{ ending: { kind: "handed-back" } }]);
      expect(port.takes).toHaveLength(1);

      port.onTake = async () => ({ taken: true, term: port.term("g") });
      release.resolve("settled");
      await clock.advance(0);
      expect(port.takes).toHaveLength(2);
      expect(second.now).toMatchObject({ state: "resolved", value: { granted: true, fence: 2n } });
    },
  );

  it("a late grant that cannot be handed back either is abandoned", async () => {
    const { port, clock, answer, release } = await late("timeout");
    answer.resolve({ taken: true, term: port.term("g") });
    release.reject(new Error("down"));
    await clock.advance(0);
    expect(port.abandoned).toMatchObject([{ fence: 1n }]);
  });

  it("a late grant whose release meets silence is abandoned after the limit", async () => {
    const { port, clock, answer, coordinator } = await late("timeout");
    answer.resolve({ taken: true, term: port.term("g") });
    await clock.advance(4_999);
    expect(port.abandoned).toEqual([]);
    await clock.advance(1);
    expect(port.abandoned).toMatchObject([{ fence: 1n }]);
    port.onTake = async () => busy;
    await refused(coordinator.acquire("g"));
    expect(clock.pending).toBe(0);
  });

  it("a take that fails late leaves nothing to clean", async () => {
    const { coordinator, port, clock, answer } = await late("abort");
    answer.reject(new Error("late"));
    await clock.advance(0);
    port.onTake = async () => busy;
    await refused(coordinator.acquire("g"));
    expect(port.settles).toEqual([]);
  });

  it("one whose signal is aborted already asks nobody, and keeps the reason", async () => {
    const { coordinator, port } = setup();
    const reason = new Error("stop");
    const error = await errorOf(coordinator.acquire("g", { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: "ACQUIRE_ABORTED", cause: reason });
    expect(port.takes).toEqual([]);
  });

  it("one that is aborted while it waits for its turn takes none", async () => {
    const { coordinator, port, clock } = setup();
    const answer = deferred<TakeAnswer<Term>>();
    port.onTake = () => answer.promise;
    const first = coordinator.acquire("g");
    const controller = new AbortController();
    const second = watched(coordinator.acquire("g", { signal: controller.signal }));
    controller.abort();
    await clock.advance(0);
    expect(second.now).toMatchObject({ state: "rejected", error: { code: "ACQUIRE_ABORTED" } });
    answer.resolve(busy);
    await refused(first);
    await refused(coordinator.acquire("g"));
    expect(port.takes).toHaveLength(2);
  });
});

describe("giving up at any moment", () => {
  it("leaves neither a turn nor a grant behind, and the next acquire is answered", async () => {
    for (let steps = 0; steps < 40; steps++) {
      const { coordinator, port, clock } = setup();
      const answer = deferred<TakeAnswer<Term>>();
      port.onTake = () => answer.promise;
      const first = watched(coordinator.acquire("g"));
      const controller = new AbortController();
      const second = watched(coordinator.acquire("g", { signal: controller.signal }));
      await clock.advance(0);
      port.onTake = async () => ({ taken: true, term: port.term("g") });
      answer.resolve(busy);
      for (let step = 0; step < steps; step++) await Promise.resolve();
      controller.abort();
      await clock.advance(0);
      expect(first.now.state).toBe("resolved");
      const third = watched(coordinator.acquire("g"));
      await clock.advance(0);
      if (second.now.state === "resolved")
        expect(third.now).toMatchObject({ value: { granted: false, holder: { label: "me" } } });
      else {
        expect(second.now).toMatchObject({ error: { code: "ACQUIRE_ABORTED" } });
        expect(third.now).toMatchObject({ value: { granted: true } });
      }
    }
  });
});

describe("an answer that comes too late", () => {
  it("is not granted, and is handed back before the next acquire asks", async () => {
    const { coordinator, port, clock, typesOf } = setup();
    const release = deferred<"settled">();
    port.onSettle = () => release.promise;
    port.onTake = async (request) => {
      request.sending();
      clock.stall(900);
      return { taken: true, term: port.term("g") };
    };
    const error = await errorOf(coordinator.acquire("g"));
    expect(error).toMatchObject({
      code: "BACKEND_TIMEOUT",
      message:
        'Could not hold "g" (scripted on script): the answer came when the grant was already over. Nothing was run; ask again.',
    });
    expect(port.settles).toMatchObject([{ term: { fence: 1n }, ending: { kind: "handed-back" } }]);
    // Nobody was granted anything, so nobody has lost anything.
    expect(typesOf()).toEqual(["acquire-failed"]);

    port.onTake = async () => busy;
    const second = watched(coordinator.acquire("g"));
    await clock.advance(0);
    expect(second.now.state).toBe("pending");
    release.resolve("settled");
    await clock.advance(0);
    expect(second.now.state).toBe("resolved");
    expect(clock.pending).toBe(0);
  });

  it("is granted, for the rest of the window, one millisecond earlier", async () => {
    const { coordinator, port, clock } = setup();
    port.onTake = async (request) => {
      request.sending();
      clock.stall(899);
      return { taken: true, term: port.term("g") };
    };
    const grant = await granted(coordinator.acquire("g"));
    grant.assertHeld();
    await clock.advance(1);
    expect(grant.signal.aborted).toBe(true);
  });

  it("the time in the queue before the request was sent does not count", async () => {
    const { coordinator, port, clock } = setup();
    port.onTake = async (request) => {
      clock.stall(2_000);
      request.sending();
      return { taken: true, term: port.term("g") };
    };
    await granted(coordinator.acquire("g"));
  });

  it("a shorter life that the backend gave counts, not the one asked for", async () => {
    const { coordinator, port, clock } = setup();
    port.onRenew = () => silence();
    port.onTake = async (request) => {
      request.sending();
      return { taken: true, term: { ...port.term("g"), ttlMs: 500 } };
    };
    const grant = await granted(coordinator.acquire("g"));
    await clock.advance(399);
    expect(grant.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(grant.signal.reason).toMatchObject({ message: expect.stringContaining("ttlMs 500") });
  });

  it("a session that ends before its grant is handed out is an error and no grant", async () => {
    const { coordinator, port, typesOf, clock } = setup(session);
    const cause = new Error("terminated");
    port.onTake = async (request) => {
      const term = port.term("g");
      request.ended(cause);
      return { taken: true, term };
    };
    const error = await errorOf(coordinator.acquire("g"));
    expect(error).toMatchObject({ code: "BACKEND_LOST", cause });
    expect(typesOf()).toEqual(["acquire-failed"]);
    expect(clock.pending).toBe(0);
  });
});

describe("asking who holds what", () => {
  it("a silent backend is an error at the limit", async () => {
    const { coordinator, port, clock } = setup();
    port.onRead = () => silence();
    const answer = watched(coordinator.inspect());
    await clock.advance(5_000);
    expect(answer.now).toMatchObject({
      state: "rejected",
      error: {
        code: "BACKEND_TIMEOUT",
        message:
          "Could not read who holds what (scripted on script): no answer within acquireTimeoutMs 5000. Look whether script is up and reachable.",
      },
    });
    expect(clock.pending).toBe(0);
  });

  it("a fault of inspect or preflight is a BackendError with the cause", async () => {
    const { coordinator, port } = setup();
    const cause = new Error("no");
    port.onRead = () => Promise.reject(cause);
    port.prove = () => Promise.reject(cause);
    for (const error of [
      await errorOf(coordinator.inspect("g")),
      await errorOf(coordinator.preflight()),
    ]) {
      expect(isBackendError(error)).toBe(true);
      expect(error).toMatchObject({ code: "BACKEND_FAULT", cause });
    }
  });
});

describe("the memory coordinator", () => {
  it("two on one store refuse each other by name, and the one that waits gets it after release", async () => {
    const store = memoryStore(manualClock());
    const a = memoryCoordinator({ store, label: "a" });
    const b = memoryCoordinator({ store, label: "b" });
    const grant = await granted(a.acquire("g"));
    expect((await refused(b.acquire("g"))).holder).toEqual(grant.holder);
    await granted(b.acquire("other"));
    await granted(memoryCoordinator({ store, app: "another" }).acquire("g"));
    await grant.settle({ kind: "done" });
    expect((await granted(b.acquire("g"))).fence).toBeGreaterThan(grant.fence);
  });

  it("a window or an interval that is done is refused as already run, on every replica", async () => {
    const clock = manualClock();
    const store = memoryStore(clock);
    const window = "2026-07-01T12:00Z";
    const a = memoryCoordinator({ store });
    const b = memoryCoordinator({ store });
    const failed = await granted(a.acquire("g", { window }));
    await failed.settle({ kind: "failed", error: new Error("E") });
    const done = await granted(b.acquire("g", { window }));
    await done.settle({ kind: "done" });
    const refusal = await refused(a.acquire("g", { window: new Date("2026-07-01T11:00Z") }));
    expect(refusal).toMatchObject({
      reason: "already-ran",
      message: '"g" already ran for window 2026-07-01T11:00:00.000Z, or for a later one.',
    });
    expect(await refused(a.acquire("g", { minIntervalMs: 10 }))).toMatchObject({
      reason: "already-ran",
      message: '"g" already ran less than minIntervalMs ago.',
    });
    await clock.advance(10);
    await granted(a.acquire("g", { minIntervalMs: 10 }));
  });

  it("inspect counts how long a graph is held, also when the wall clock is set back", async () => {
    const clock = manualClock();
    const coordinator = memoryCoordinator({ clock });
    await granted(coordinator.acquire("g"));
    await clock.advance(5_000);
    clock.shiftWall(-3_600_000);
    expect(await coordinator.inspect("g")).toMatchObject([
      { graph: "g", state: "held", heldForMs: 5_000 },
    ]);
    expect(await coordinator.inspect("other")).toEqual([]);
  });

  it("a store that is down is an error, and serves again afterwards", async () => {
    const store = memoryStore(manualClock());
    const coordinator = memoryCoordinator({ store });
    store.fault = new Error("pulled the plug");
    expect(await errorOf(coordinator.acquire("g"))).toMatchObject({
      code: "BACKEND_UNREACHABLE",
      transient: true,
    });
    store.fault = undefined;
    await granted(coordinator.acquire("g"));
  });
});
