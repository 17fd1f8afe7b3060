import { describe, expect, it } from "vitest";
import { isBackendError, isGrantLost, tick } from "../src/index.js";
import { errorOf, silence, watched } from "./support/promises.js";
import { setup } from "./support/setup.js";

const E = new Error("E");
const fails = async () => {
  throw E;
};

describe("tick", () => {
  it("ran: the work returned, and its ending is recorded as done", async () => {
    const { coordinator, port } = setup();
    const outcome = await tick(coordinator, "g", async (grant) => {
      grant.assertHeld();
      return 42;
    });
    expect(outcome).toEqual({
      status: "ran",
      value: 42,
      graph: "g",
      fence: 1n,
      heldMs: expect.any(Number),
    });
    expect(port.settles).toMatchObject([{ ending: { kind: "done" } }]);
  });

  it("the grant is released only after the work has settled", async () => {
    const { coordinator, port, clock } = setup();
    const outcome = watched(
      tick(coordinator, "g", () => new Promise<void>((resolve) => clock.after(700, resolve))),
    );
    await clock.advance(699);
    expect(port.settles).toEqual([]);
    await clock.advance(1);
    expect(outcome.now).toMatchObject({ value: { status: "ran" } });
  });

  it("skipped: a refusal is an outcome, and the work is not called", async () => {
    const { coordinator, port } = setup();
    port.onTake = async () => ({ taken: false, reason: "nothing-due" });
    expect(await tick(coordinator, "g", fails)).toEqual({
      status: "skipped",
      graph: "g",
      refusal: {
        granted: false,
        graph: "g",
        reason: "nothing-due",
        message: 'Nothing is due for "g".',
      },
    });
  });

  it("a backend that could not be asked is thrown, and the work is not called", async () => {
    const { coordinator, port } = setup();
    port.onTake = () => Promise.reject(new Error("down"));
    let called = false;
    const error = await errorOf(
      tick(coordinator, "g", async () => {
        called = true;
      }),
    );
    expect(isBackendError(error)).toBe(true);
    expect(called).toBe(false);
  });

  it.each([
    ["rejects", fails],
    [
      "throws before it returns a promise",
      () => {
        throw E;
      },
    ],
  ])("failed: work that %s is an outcome with its error, and is released", async (_, work) => {
    const { coordinator, port } = setup();
    const outcome = await tick(coordinator, "g", work);
    expect(outcome).toMatchObject({ status: "failed", error: E, during: "work" });
    expect(outcome).not.toHaveProperty("settleError");
    expect(port.settles).toMatchObject([{ ending: { kind: "failed", error: E } }]);
  });

  it("when the work throws E and the release fails too, E is kept and the failure attached", async () => {
    const { coordinator, port } = setup();
    port.onSettle = () => Promise.reject(new Error("down"));
    expect(await tick(coordinator, "g", fails)).toMatchObject({
      status: "failed",
      error: E,
      during: "work",
      settleError: { code: "BACKEND_FAULT", cause: { message: "down" } },
    });
  });

  it("work that ended well and could not be recorded failed during settling, within the limit", async () => {
    const { coordinator, port, clock } = setup();
    port.onSettle = () => silence();
    const outcome = watched(tick(coordinator, "g", async () => 42));
    await clock.advance(5_000);
    expect(outcome.now).toMatchObject({
      value: { status: "failed", during: "settle", error: { code: "BACKEND_TIMEOUT" } },
    });
  });

  it("lost: what the work returned is thrown away", async () => {
    const { coordinator, port, clock } = setup();
    port.onRenew = () => silence();
    const outcome = watched(
      tick(
        coordinator,
        "g",
        () => new Promise<number>((resolve) => clock.after(2_000, () => resolve(42))),
      ),
    );
    await clock.advance(2_000);
    expect(outcome.now).toMatchObject({
      value: { status: "lost", error: { code: "GRANT_LOST" }, fence: 1n },
    });
    expect(outcome.now).not.toHaveProperty("value.workError");
    expect(port.settles).toEqual([]);
  });

  it("lost: work that rejects with the loss itself adds nothing; another error is kept", async () => {
    for (const [reject, workError] of [
      [(signal: AbortSignal) => signal.reason, undefined],
      [() => E, E],
    ] as const) {
      const { coordinator, port, clock } = setup();
      port.onRenew = () => silence();
      const outcome = watched(
        tick(
          coordinator,
          "g",
          ({ signal }) =>
            new Promise((_, no) => signal.addEventListener("abort", () => no(reject(signal)))),
        ),
      );
      await clock.advance(900);
      if (outcome.now.state !== "resolved" || outcome.now.value.status !== "lost")
        throw new Error("not lost");
      expect(isGrantLost(outcome.now.value.error)).toBe(true);
      expect(outcome.now.value.workError).toBe(workError);
    }
  });

  it("lost: when the backend says at the release that the term is gone", async () => {
    const { coordinator, port } = setup();
    port.onSettle = async () => "gone";
    expect(await tick(coordinator, "g", async () => 42)).toMatchObject({ status: "lost" });
  });

  it.each([
    [
      { kind: "waiting", on: "a person" },
      { status: "waiting", on: "a person" },
    ],
    [
      { kind: "handed-back", reason: "drained" },
      { status: "handed-back", reason: "drained" },
    ],
    [
      { kind: "failed", error: E },
      { status: "failed", error: E, during: "work" },
    ],
    [{ kind: "done" }, { status: "ran", value: 42 }],
  ] as const)(
    "work that settles its grant itself as %o decides the outcome",
    async (ending, expected) => {
      const { coordinator, port } = setup();
      const outcome = await tick(coordinator, "g", async (grant) => {
        await grant.settle(ending);
        return 42;
      });
      expect(outcome).toMatchObject(expected);
      expect(port.settles).toHaveLength(1);
    },
  );

  it("work that settles as waiting and then touches its grant is waiting all the same", async () => {
    const { coordinator } = setup();
    const outcome = await tick(coordinator, "g", async (grant) => {
      await grant.settle({ kind: "waiting", on: 1 });
      grant.assertHeld();
    });
    expect(outcome).toMatchObject({ status: "waiting", on: 1 });
  });

  it("work that starts to settle and does not wait for it is settled before the tick ends", async () => {
    const { coordinator, port, clock } = setup();
    port.onSettle = () => new Promise((resolve) => clock.after(50, () => resolve("settled")));
    const outcome = watched(
      tick(coordinator, "g", async (grant) => void grant.settle({ kind: "waiting", on: 1 })),
    );
    await clock.advance(49);
    expect(outcome.now.state).toBe("pending");
    await clock.advance(1);
    expect(outcome.now).toMatchObject({ value: { status: "waiting" } });
  });

  it("what work throws after its signal aborted is a hand-back, with the error kept", async () => {
    const { coordinator, port } = setup();
    const controller = new AbortController();
    const outcome = await tick(
      coordinator,
      "g",
      async () => {
        controller.abort();
        throw E;
      },
      { signal: controller.signal },
    );
    expect(outcome).toMatchObject({
      status: "handed-back",
      reason: "stopped by its caller",
      workError: E,
    });
    expect(port.settles).toMatchObject([{ ending: { kind: "handed-back" } }]);
  });

  it("what work throws because its coordinator is closing is a hand-back, with the error kept", async () => {
    const { coordinator } = setup();
    const outcome = tick(
      coordinator,
      "g",
      ({ draining }) =>
        new Promise((_, no) => draining.addEventListener("abort", () => no(draining.reason))),
    );
    await new Promise((resolve) => setImmediate(resolve));
    await coordinator.close();
    expect(await outcome).toMatchObject({
      status: "handed-back",
      reason: "stopped because its coordinator is closing",
      workError: { name: "AbortError" },
    });
  });

  it("work that finishes although it was told to stop has run", async () => {
    const { coordinator } = setup();
    const controller = new AbortController();
    const work = async () => {
      controller.abort();
      return 42;
    };
    expect(await tick(coordinator, "g", work, { signal: controller.signal })).toMatchObject({
      status: "ran",
      value: 42,
    });
  });
});
