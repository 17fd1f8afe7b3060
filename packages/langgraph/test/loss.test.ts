import { END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { isGrantLost } from "@sole-writer/core";
import { describe, expect, it } from "vitest";
import { currentGrant, leftoversOf, type RunEvent, runGraph } from "../src/index.js";
import { chain, State, slowSaver } from "./support/graphs.js";
import { deferred, errorOf, settle, stop, watched } from "./support/promises.js";
import { grantOf, replicas, under } from "./support/replicas.js";

const input = { log: ["in"] };
const durabilities = ["sync", "async", "exit"] as const;

describe("a grant that is lost while its graph runs", () => {
  it.each(durabilities)(
    "law 15, durability %s: runGraph ends only after the stubborn node has, starts no further one, and stores nothing",
    async (durability) => {
      const { a, b, lose } = replicas();
      const stubborn = stop();
      const { saver, landed } = slowSaver();
      const { graph, runs } = chain(saver, {
        one: async () => {
          await stubborn.here();
          return { log: ["late"] };
        },
        two: "default",
      });
      const grant = await grantOf(a, "g");
      const run = watched(runGraph(grant, graph, { input, threadId: "t", durability }));
      await stubborn.reached;
      await settle();
      const before = [...landed];
      await lose("g");
      await settle();
      expect(run.now).toBe("pending");
      stubborn.release();
      await settle();
      expect(run.now).toBe("rejected");
      expect(isGrantLost(run.error)).toBe(true);
      expect(runs).toEqual(["one"]);
      expect(landed).toEqual(before);
      const next = await under(b, (g) =>
        runGraph(g, chain(saver, { one: "default" }).graph, { input, threadId: "t" }),
      );
      expect(next).toMatchObject({ status: "ran", value: { value: { log: ["in", "one"] } } });
    },
  );

  it("names the node whose result was thrown away, in the error and in an event", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await stubborn.here();
        return { log: ["late"] };
      },
    });
    const events: RunEvent[] = [];
    const grant = await grantOf(a, "g");
    const options = { input, threadId: "t", onEvent: (event: RunEvent) => events.push(event) };
    const run = errorOf(runGraph(grant, graph, options));
    await stubborn.reached;
    await lose("g");
    stubborn.release();
    const error = await run;
    expect(leftoversOf(error)).toEqual({ discarded: ["one"], stillRunning: [] });
    expect(error).toMatchObject({
      code: "GRANT_LOST",
      reason: "replaced",
      message: expect.stringContaining("thrown away: the result of one"),
      cause: grant.signal.reason,
    });
    expect(events).toMatchObject([
      { type: "started", graph: "g", fence: grant.fence, threadId: "t" },
      { type: "nodes-left", discarded: ["one"], stillRunning: [] },
    ]);
  });

  it("a node that obeys leaves nothing: the error is the loss itself", async () => {
    const { a, lose } = replicas();
    const began = deferred();
    const { graph } = chain(new MemorySaver(), {
      one: async (_, { signal }) => {
        began.resolve();
        await new Promise((_, no) => signal?.addEventListener("abort", () => no(signal.reason)));
        return {};
      },
    });
    const grant = await grantOf(a, "g");
    const run = errorOf(runGraph(grant, graph, { input, threadId: "t" }));
    await began.promise;
    await lose("g");
    expect(await run).toBe(grant.signal.reason);
    expect(leftoversOf(await run)).toBeUndefined();
  });

  it("through tick it is lost, whatever the node returned", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await stubborn.here();
        return {};
      },
    });
    const run = under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    await stubborn.reached;
    await lose("g");
    stubborn.release();
    expect(await run).toMatchObject({ status: "lost", workError: { discarded: ["one"] } });
  });

  it("settleTimeoutMs ends the wait, and the error says which node still runs", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await stubborn.here();
        return {};
      },
    });
    const grant = await grantOf(a, "g");
    const run = errorOf(runGraph(grant, graph, { input, threadId: "t", settleTimeoutMs: 5 }));
    await stubborn.reached;
    await lose("g");
    expect(leftoversOf(await run)).toEqual({ discarded: [], stillRunning: ["one"] });
    stubborn.release();
  });

  it("a checkpoint write under way is waited for, and none follows it", async () => {
    const { a, lose } = replicas();
    const { saver, landed, hold } = slowSaver();
    const writing = deferred<ReturnType<typeof stop>>();
    const { graph } = chain(saver, {
      one: async () => {
        writing.resolve(hold());
        return { log: ["one"] };
      },
      two: "default",
    });
    const grant = await grantOf(a, "g");
    const run = watched(runGraph(grant, graph, { input, threadId: "t" }));
    const gate = await writing.promise;
    await gate.reached;
    const before = landed.length;
    await lose("g");
    await settle();
    expect(run.now).toBe("pending");
    gate.release();
    await settle();
    expect(run.now).toBe("rejected");
    const after = landed.length;
    // The writes that had begun: the node's result, and the checkpoint that langgraph puts beside it.
    expect(after - before).toBeLessThanOrEqual(2);
    await settle();
    expect(landed).toHaveLength(after);
  });

  it("after a stalled event loop no further node starts, though no timer has told of the loss", async () => {
    const { a, clock } = replicas();
    const { graph, runs } = chain(new MemorySaver(), {
      one: async () => {
        clock.stall(30_000);
        return { log: ["zombie"] };
      },
      two: "default",
    });
    const grant = await grantOf(a, "g");
    const error = await errorOf(runGraph(grant, graph, { input, threadId: "t" }));
    expect(error).toMatchObject({ code: "GRANT_LOST", reason: "unconfirmed" });
    expect(runs).toEqual(["one"]);
  });

  it("a stall in the last node: its result is not taken for the run's", async () => {
    const { a, clock } = replicas();
    const { graph } = chain(undefined, {
      one: async () => {
        clock.stall(30_000);
        return {};
      },
    });
    const grant = await grantOf(a, "g");
    expect(isGrantLost(await errorOf(runGraph(grant, graph, { input })))).toBe(true);
  });

  it("a stall in the last checkpoint write: the run is lost, and not finished", async () => {
    const { a, clock } = replicas();
    const saver = new MemorySaver();
    const put = saver.put.bind(saver);
    saver.put = async (...args) => {
      if (args[2].step === 1) clock.stall(30_000);
      return put(...args);
    };
    const { graph } = chain(saver, { one: "default" });
    const grant = await grantOf(a, "g");
    expect(isGrantLost(await errorOf(runGraph(grant, graph, { input, threadId: "t" })))).toBe(true);
  });

  it("a node retried by its retry policy is not started again after the loss", async () => {
    const { a, lose } = replicas();
    const first = stop();
    let attempts = 0;
    const saver = new MemorySaver();
    const graph = new StateGraph(State)
      .addNode(
        "one",
        async () => {
          attempts += 1;
          await first.here();
          throw new Error("again");
        },
        { retryPolicy: { maxAttempts: 5, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge(START, "one")
      .addEdge("one", END)
      .compile({ checkpointer: saver });
    const grant = await grantOf(a, "g");
    const run = errorOf(runGraph(grant, graph, { input, threadId: "t" }));
    await first.reached;
    await lose("g");
    first.release();
    expect(isGrantLost(await run)).toBe(true);
    await settle();
    expect(attempts).toBe(1);
  });

  it("a grant that was lost before: nothing is read and nothing runs", async () => {
    const { a, lose } = replicas();
    const { graph, runs } = chain(new MemorySaver(), { one: "default" });
    const grant = await grantOf(a, "g");
    await lose("g");
    expect(await errorOf(runGraph(grant, graph, { input, threadId: "t" }))).toBe(
      grant.signal.reason,
    );
    expect(runs).toEqual([]);
  });

  it("currentGrant tells a node that its grant is gone", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await stubborn.here();
        currentGrant()?.assertHeld();
        return { log: ["one"] };
      },
    });
    const grant = await grantOf(a, "g");
    const run = errorOf(runGraph(grant, graph, { input, threadId: "t" }));
    await stubborn.reached;
    await lose("g");
    stubborn.release();
    expect(leftoversOf(await run)).toBeUndefined();
  });
});
