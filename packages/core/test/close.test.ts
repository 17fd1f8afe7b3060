import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { TakeAnswer, Term } from "../src/term-port.js";
import { deferred, errorOf, granted, silence, watched } from "./support/promises.js";
import { setup } from "./support/setup.js";

const done = { kind: "done" } as const;

describe("closing", () => {
  it("tells running work to stop, keeps its grant alive meanwhile, and waits for it to settle", async () => {
    const { coordinator, port, clock, typesOf } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const closed = watched(coordinator.close());
    expect(grant.draining.aborted).toBe(true);
    await clock.advance(5_000);
    expect(closed.now.state).toBe("pending");
    grant.assertHeld();
    expect(port.renews.length).toBeGreaterThan(10);
    await grant.settle(done);
    await clock.advance(0);
    expect(closed.now.state).toBe("resolved");
    expect(port.closes).toBe(1);
    expect(typesOf()).not.toContain("lost");
    expect(clock.pending).toBe(0);
  });

  it("work that has not settled when the grace is over loses its grant, and close goes on", async () => {
    const { coordinator, port, clock, events } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const closed = watched(coordinator.close({ graceMs: 2_000 }));
    await clock.advance(1_999);
    expect(grant.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(grant.signal.reason).toMatchObject({
      reason: "closed",
      message: expect.stringContaining("its coordinator was closed before the work had settled. A"),
    });
    expect(closed.now.state).toBe("resolved");
    expect(port.settles).toEqual([]);
    expect(port.abandoned).toHaveLength(1);
    expect(events.filter((event) => event.type === "lost")).toHaveLength(1);
    expect(clock.pending).toBe(0);

    expect(await errorOf(grant.settle(done))).toBe(grant.signal.reason);
    expect(port.settles).toEqual([]);
    expect(port.abandoned).toHaveLength(1);
  });

  it("no grace at all is a grace that is over at once", async () => {
    const { coordinator, clock } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const closed = watched(coordinator.close({ graceMs: 0 }));
    await clock.advance(0);
    expect(grant.signal.aborted).toBe(true);
    expect(closed.now.state).toBe("resolved");
  });

  it("a release under way when the grace is over is waited for, and is no loss", async () => {
    const { coordinator, port, clock, typesOf } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const release = deferred<"settled">();
    port.onSettle = () => release.promise;
    const settled = watched(grant.settle(done));
    const closed = watched(coordinator.close({ graceMs: 100 }));
    await clock.advance(300);
    expect(closed.now.state).toBe("pending");
    expect(port.closes).toBe(0);
    release.resolve("settled");
    await clock.advance(0);
    expect(settled.now.state).toBe("resolved");
    expect(closed.now.state).toBe("resolved");
    expect(typesOf()).toEqual(["granted", "settled"]);
    expect(port.abandoned).toEqual([]);
  });

  it("is idempotent: every call waits for the same end, and the port is closed once", async () => {
    const { coordinator, port, clock } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const calls = [
      coordinator.close(),
      coordinator.close(),
      coordinator[Symbol.asyncDispose](),
    ].map(watched);
    await clock.advance(10);
    expect(calls.map((call) => call.now.state)).toEqual(["pending", "pending", "pending"]);
    await grant.settle(done);
    await clock.advance(0);
    expect(calls.map((call) => call.now.state)).toEqual(["resolved", "resolved", "resolved"]);
    await coordinator.close();
    expect(port.closes).toBe(1);
  });

  it("a second call may shorten the grace, and never lengthens it", async () => {
    const { coordinator, clock } = setup();
    const grant = await granted(coordinator.acquire("g"));
    void coordinator.close({ graceMs: 10_000 });
    void coordinator.close({ graceMs: 60_000 });
    const closed = watched(coordinator.close({ graceMs: 50 }));
    await clock.advance(49);
    expect(grant.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(grant.signal.aborted).toBe(true);
    expect(closed.now.state).toBe("resolved");
    expect(clock.pending).toBe(0);
  });

  it("after it nobody is asked: acquire, inspect and preflight say that it is closed", async () => {
    const { coordinator, port } = setup();
    await coordinator.close();
    const closed = { code: "COORDINATOR_CLOSED" };
    expect(await errorOf(coordinator.acquire("g"))).toMatchObject({
      ...closed,
      message: 'Cannot acquire "g": this coordinator (scripted on script, me) is closed.',
    });
    expect(await errorOf(coordinator.inspect())).toMatchObject(closed);
    expect(await errorOf(coordinator.preflight())).toMatchObject(closed);
    expect(port.takes).toEqual([]);
  });

  it("while it waits for running work, no new grant is given", async () => {
    const { coordinator } = setup();
    const grant = await granted(coordinator.acquire("g"));
    const closed = coordinator.close();
    expect(await errorOf(coordinator.acquire("other"))).toMatchObject({
      code: "COORDINATOR_CLOSED",
    });
    await grant.settle(done);
    await closed;
  });

  it("ends an acquire under way, and hands back what it brings home late", async () => {
    const { coordinator, port, clock } = setup();
    const answer = deferred<TakeAnswer<Term>>();
    port.onTake = () => answer.promise;
    const asked = watched(coordinator.acquire("g"));
    const queued = watched(coordinator.acquire("g"));
    await clock.advance(0);
    const closed = watched(coordinator.close());
    await clock.advance(10);
    for (const one of [asked, queued])
      expect(one.now).toMatchObject({ state: "rejected", error: { code: "COORDINATOR_CLOSED" } });
    expect(closed.now.state).toBe("pending");
    answer.resolve({ taken: true, term: port.term("g") });
    await clock.advance(0);
    expect(port.settles).toMatchObject([{ ending: { kind: "handed-back" } }]);
    expect(closed.now.state).toBe("resolved");
    expect(clock.pending).toBe(0);
  });

  it("is bounded when nothing answers: neither the acquire, nor the release, nor the port", async () => {
    const { coordinator, port, clock } = setup();
    const grant = await granted(coordinator.acquire("a"));
    port.onTake = () => silence();
    port.onSettle = () => silence();
    port.onClose = () => silence();
    const asked = watched(coordinator.acquire("b"));
    const settled = watched(grant.settle(done));
    await clock.advance(1);
    const closed = watched(coordinator.close({ graceMs: 1_000 }));
    await clock.advance(1_000 + 5_000 + 5_000);
    for (const one of [asked, settled]) expect(one.now.state).toBe("rejected");
    expect(closed.now.state).toBe("resolved");
    expect(clock.pending).toBe(0);
  });

  it("at every moment of an acquire, it leaves no grant that was not told", async () => {
    for (let steps = 0; steps < 40; steps++) {
      const { coordinator, port, clock } = setup();
      const answer = deferred<TakeAnswer<Term>>();
      port.onTake = () => answer.promise;
      const asked = watched(coordinator.acquire("g"));
      await clock.advance(0);
      answer.resolve({ taken: true, term: port.term("g") });
      for (let step = 0; step < steps; step++) await Promise.resolve();
      const closed = watched(coordinator.close({ graceMs: 100 }));
      await clock.advance(100);
      expect(closed.now.state).toBe("resolved");
      if (asked.now.state === "resolved") {
        if (!asked.now.value.granted) throw new Error("refused");
        expect(asked.now.value.draining.aborted).toBe(true);
        expect(asked.now.value.signal.aborted).toBe(true);
        expect(port.abandoned).toHaveLength(1);
      } else {
        expect(asked.now).toMatchObject({ error: { code: "COORDINATOR_CLOSED" } });
        expect(port.settles).toHaveLength(1);
      }
      expect(clock.pending).toBe(0);
    }
  });
});

describe("a process with coordinators", () => {
  /** Runs `script` in a process of its own, as an application would, on the built package. */
  async function run(script: string): Promise<{ code: number | null; out: string }> {
    const core = new URL("../dist/index.js", import.meta.url);
    const testing = new URL("../dist/testing/index.js", import.meta.url);
    const source = `
      import { tick } from ${JSON.stringify(core.href)};
      import { memoryCoordinator } from ${JSON.stringify(testing.href)};
      ${script}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (out += data));
    const stuck = setTimeout(() => child.kill("SIGKILL"), 20_000);
    const [code] = await once(child, "close");
    clearTimeout(stuck);
    return { code, out };
  }

  it("exits by itself when its grants are settled, closed or not", async () => {
    const { code, out } = await run(`
      const coordinator = memoryCoordinator({ ttlMs: 60_000, renewEveryMs: 5 });
      for (let i = 0; i < 20; i++) {
        const outcome = await tick(coordinator, "g", () => new Promise((r) => setTimeout(r, 10)));
        if (outcome.status !== "ran") throw outcome;
      }
      console.log("done");
    `);
    expect({ code, out }).toEqual({ code: 0, out: "done\n" });
  });

  it("exits by itself after close, also with work that never settles", async () => {
    const { code, out } = await run(`
      const coordinator = memoryCoordinator({ ttlMs: 60_000 });
      const grant = await coordinator.acquire("g");
      await coordinator.close({ graceMs: 50 });
      console.log(grant.signal.reason.reason);
    `);
    expect({ code, out }).toEqual({ code: 0, out: "closed\n" });
  });

  it("does not crash on waking from a stall longer than its lease", async () => {
    const { code, out } = await run(`
      const coordinator = memoryCoordinator({ ttlMs: 200 });
      const outcome = await tick(coordinator, "g", async () => {
        await new Promise((r) => setTimeout(r, 20));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
      });
      console.log(outcome.status);
    `);
    expect({ code, out }).toEqual({ code: 0, out: "lost\n" });
  });

  it("does not touch the signal handlers of its process", async () => {
    const { out } = await run(`
      const before = JSON.stringify(process.eventNames());
      const coordinator = memoryCoordinator();
      await tick(coordinator, "g", async () => {
        console.log(JSON.stringify(process.eventNames()) === before);
      });
    `);
    expect(out).toBe("true\n");
  });
});
