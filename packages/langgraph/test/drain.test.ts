import { END, entrypoint, MemorySaver, START, StateGraph, task } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph } from "../src/index.js";
import { chain, checkpoints, State, slowSaver } from "./support/graphs.js";
import { settle, stop, watched } from "./support/promises.js";
import { grantOf, replicas, under } from "./support/replicas.js";

const input = { log: ["in"] };

describe("a run that is asked to stop", () => {
  it.each(["sync", "async", "exit"] as const)(
    "durability %s: it finishes the super-step, hands back, and another coordinator goes on",
    async (durability) => {
      const { a, b } = replicas();
      const busy = stop();
      const caller = new AbortController();
      const { graph, runs } = chain(new MemorySaver(), {
        one: async () => {
          await busy.here();
          return { log: ["one"] };
        },
        two: "default",
      });
      const options = { input, threadId: "t", runId: "r", durability };
      const first = under(a, (grant) =>
        runGraph(grant, graph, { ...options, signal: caller.signal }),
      );
      await busy.reached;
      caller.abort();
      await settle();
      busy.release();
      expect(await first).toMatchObject({ status: "handed-back", reason: "stopped by its caller" });
      expect(runs).toEqual(["one"]);
      expect(await under(b, (grant) => runGraph(grant, graph, options))).toMatchObject({
        value: { status: "resumed", value: { log: ["in", "one", "two"] } },
      });
      expect(runs).toEqual(["one", "two"]);
    },
  );

  it("a coordinator that closes drains its run, and the grant goes only after the run has settled", async () => {
    const { a, b } = replicas();
    const busy = stop();
    const { saver, landed } = slowSaver();
    const { graph } = chain(saver, {
      one: async () => {
        await busy.here();
        return { log: ["one"] };
      },
      two: "default",
    });
    const run = under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    await busy.reached;
    const closed = watched(a.close({ graceMs: 60_000 }));
    await settle();
    expect(closed.now).toBe("pending");
    expect(await b.acquire("g")).toMatchObject({ granted: false, reason: "held" });
    busy.release();
    expect(await run).toMatchObject({
      status: "handed-back",
      reason: "stopped because its coordinator is closing",
    });
    expect(landed.at(-1)).toBe("loop 1");
    await settle();
    expect(closed.now).toBe("resolved");
    expect(await under(b, (g) => runGraph(g, graph, { input, threadId: "t" }))).toMatchObject({
      value: { status: "resumed", value: { log: ["in", "one", "two"] } },
    });
  });

  it("a run that finishes on the step at which it is asked to stop has run", async () => {
    const { a } = replicas();
    const busy = stop();
    const caller = new AbortController();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await busy.here();
        return { log: ["one"] };
      },
    });
    const run = under(a, (grant) =>
      runGraph(grant, graph, { input, threadId: "t", signal: caller.signal }),
    );
    await busy.reached;
    caller.abort();
    busy.release();
    expect(await run).toMatchObject({ value: { status: "ran", value: { log: ["in", "one"] } } });
  });

  it("a run asked to stop before it began hands back and starts nothing", async () => {
    const { a } = replicas();
    const saver = new MemorySaver();
    const { graph, runs } = chain(saver, { one: "default" });
    const grant = await grantOf(a, "g");
    const signal = AbortSignal.abort();
    expect(await runGraph(grant, graph, { input, threadId: "t", signal })).toEqual({
      status: "handed-back",
      reason: "stopped by its caller",
    });
    expect(runs).toEqual([]);
    expect(await checkpoints(saver, "t")).toEqual([]);
    expect(grant.ending).toMatchObject({ kind: "handed-back" });
  });

  it("a finished run is recognised also when it is asked to stop", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const run = (signal?: AbortSignal) =>
      under(a, (g) => runGraph(g, graph, { input, threadId: "t", ...(signal && { signal }) }));
    await run();
    expect(await run(AbortSignal.abort())).toMatchObject({ value: { status: "already-ran" } });
  });

  it("a node's signal stays silent: a drain aborts nothing", async () => {
    const { a } = replicas();
    const busy = stop();
    const caller = new AbortController();
    let aborted: boolean | undefined;
    const { graph } = chain(new MemorySaver(), {
      one: async (_, config) => {
        await busy.here();
        aborted = config.signal?.aborted;
        return {};
      },
      two: "default",
    });
    const run = under(a, (grant) =>
      runGraph(grant, graph, { input, threadId: "t", signal: caller.signal }),
    );
    await busy.reached;
    caller.abort();
    busy.release();
    expect(await run).toMatchObject({ status: "handed-back" });
    expect(aborted).toBe(false);
  });

  it("a subgraph is stopped between its own steps, and goes on there", async () => {
    const { a, b } = replicas();
    const busy = stop();
    const caller = new AbortController();
    const inner = chain(undefined, {
      deep: async () => {
        await busy.here();
        return { log: ["deep"] };
      },
      deeper: "default",
    });
    const graph = new StateGraph(State)
      .addNode("outer", inner.graph)
      .addEdge(START, "outer")
      .addEdge("outer", END)
      .compile({ checkpointer: new MemorySaver() });
    const options = { input, threadId: "t" };
    const run = under(a, (grant) => runGraph(grant, graph, { ...options, signal: caller.signal }));
    await busy.reached;
    caller.abort();
    busy.release();
    expect(await run).toMatchObject({ status: "handed-back" });
    expect(inner.runs).toEqual(["deep"]);
    expect(await under(b, (grant) => runGraph(grant, graph, options))).toMatchObject({
      value: { status: "resumed" },
    });
    expect(inner.runs).toEqual(["deep", "deeper"]);
  });

  it("functional API: a workflow is one super-step, so it runs to its end", async () => {
    const { a } = replicas();
    const busy = stop();
    const caller = new AbortController();
    const first = task("first", async () => await busy.here());
    const second = task("second", async () => 2);
    const flow = entrypoint(
      { name: "flow", checkpointer: new MemorySaver() },
      async (_: number) => {
        await first();
        return await second();
      },
    );
    const run = under(a, (grant) =>
      runGraph(grant, flow, { input: 1, threadId: "t", signal: caller.signal }),
    );
    await busy.reached;
    caller.abort();
    busy.release();
    expect(await run).toMatchObject({ value: { status: "ran", value: 2 } });
  });
});
