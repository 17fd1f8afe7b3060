import { entrypoint, MemorySaver, task } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph } from "../src/index.js";
import { chain } from "./support/graphs.js";
import { settle, stop } from "./support/promises.js";
import { replicas } from "./support/replicas.js";

const input = { log: ["in"] };

describe("runGraph with a coordinator and a name", () => {
  it("acquires, runs, settles and answers with an outcome", async () => {
    const { a, b } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const outcome = await runGraph(a, "g", graph, { input, threadId: "t" });
    expect(outcome).toEqual({
      status: "ran",
      how: "ran",
      value: { log: ["in", "one"] },
      graph: "g",
      fence: expect.any(BigInt),
      heldMs: expect.any(Number),
    });
    expect(await b.inspect("g")).toMatchObject([{ state: "free" }]);
  });

  it("of two at once one runs, and the other is told who holds the graph", async () => {
    const { a, b } = replicas();
    const busy = stop();
    const { graph, runs } = chain(new MemorySaver(), {
      one: async () => {
        await busy.here();
        return { log: ["one"] };
      },
    });
    const first = runGraph(a, "g", graph, { input, threadId: "t" });
    await busy.reached;
    expect(await runGraph(b, "g", graph, { input, threadId: "t" })).toMatchObject({
      status: "skipped",
      refusal: { reason: "held", holder: { label: "a" } },
    });
    busy.release();
    expect(await first).toMatchObject({ status: "ran" });
    expect(runs).toEqual(["one"]);
  });

  it("two inputs on one thread, one after the other, are both in the state, in one chain", async () => {
    const { a, b } = replicas();
    const saver = new MemorySaver();
    const { graph } = chain(saver, { one: "default" });
    await runGraph(a, "g", graph, { input: { log: ["X"] }, threadId: "t", runId: "x" });
    const second = await runGraph(b, "g", graph, {
      input: { log: ["Y"] },
      threadId: "t",
      runId: "y",
    });
    expect(second).toMatchObject({ how: "ran", value: { log: ["X", "one", "Y", "one"] } });
    const tuples = [];
    for await (const tuple of saver.list({ configurable: { thread_id: "t" } })) tuples.push(tuple);
    const ids = tuples.map(({ checkpoint }) => checkpoint.id);
    const parents = tuples.map(({ parentConfig }) => parentConfig?.configurable?.checkpoint_id);
    expect(parents).toEqual([...ids.slice(1), undefined]);
  });

  it("the window is the run: window after window on one thread, each once", async () => {
    const { a, b } = replicas();
    const E = new Error("E");
    let fail = true;
    const { graph, runs } = chain(new MemorySaver(), {
      one: "default",
      two: async () => {
        if (fail) throw E;
        return {};
      },
    });
    const at = (c: typeof a, minute: number) =>
      runGraph(c, "g", graph, {
        input,
        threadId: "t",
        window: new Date(Date.UTC(2026, 0, 1, 0, minute)),
      });
    expect(await at(a, 1)).toMatchObject({ status: "failed", error: E });
    fail = false;
    expect(await at(b, 1)).toMatchObject({ status: "ran", how: "resumed" });
    expect(await at(a, 1)).toMatchObject({ status: "skipped", refusal: { reason: "already-ran" } });
    expect(await at(a, 2)).toMatchObject({ status: "ran", how: "ran" });
    expect(runs).toEqual(["one", "two", "two", "one", "two"]);
  });

  it("failed, lost, handed back: as tick says it", async () => {
    const { a, lose } = replicas();
    const E = new Error("E");
    const bad = chain(new MemorySaver(), {
      one: async () => {
        throw E;
      },
    });
    expect(await runGraph(a, "bad", bad.graph, { input, threadId: "t" })).toMatchObject({
      status: "failed",
      error: E,
    });
    const busy = stop();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await busy.here();
        return {};
      },
      two: "default",
    });
    const lost = runGraph(a, "g", graph, { input, threadId: "t" });
    await busy.reached;
    await lose("g");
    await settle();
    busy.release();
    expect(await lost).toMatchObject({ status: "lost", error: { code: "GRANT_LOST" } });
    const signal = AbortSignal.abort();
    await expect(runGraph(a, "g", graph, { input, threadId: "t", signal })).rejects.toMatchObject({
      code: "ACQUIRE_ABORTED",
    });
  });
});

describe("the functional API", () => {
  it("starts, resumes behind its finished tasks, and has run already", async () => {
    const { a, b } = replicas();
    const E = new Error("E");
    const ran: string[] = [];
    const first = task("first", async (n: number) => {
      ran.push("first");
      return n + 1;
    });
    let fail = true;
    const second = task("second", async (n: number) => {
      ran.push("second");
      if (fail) throw E;
      return n * 10;
    });
    const flow = entrypoint({ name: "flow", checkpointer: new MemorySaver() }, async (n: number) =>
      second(await first(n)),
    );
    const options = { input: 1, threadId: "t", runId: "r" };
    expect(await runGraph(a, "g", flow, options)).toMatchObject({ status: "failed", error: E });
    fail = false;
    expect(await runGraph(b, "g", flow, options)).toMatchObject({ how: "resumed", value: 20 });
    expect(await runGraph(a, "g", flow, options)).toMatchObject({ how: "already-ran", value: 20 });
    expect(ran).toEqual(["first", "second", "second"]);
    expect(await runGraph(a, "g", flow, { ...options, runId: "s", input: 2 })).toMatchObject({
      how: "ran",
      value: 30,
    });
  });
});
