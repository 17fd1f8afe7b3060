import { entrypoint, MemorySaver, START, StateGraph, task } from "@langchain/langgraph";
import { isGrantLost } from "@sole-writer/core";
import { describe, expect, it } from "vitest";
import { leftoversOf, type RunEvent, runGraph } from "../src/index.js";
import { chain, checkpoints, State, slowSaver } from "./support/graphs.js";
import { settle, stop, watched } from "./support/promises.js";
import { grantOf, replicas } from "./support/replicas.js";

const input = { log: ["in"] };

describe("a grant that is lost while a subgraph or a task runs", () => {
  it("subgraphs called inside a node, and nodes of theirs that ignore the abort, are waited for and named", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const after: string[] = [];
    const inner = new StateGraph(State)
      .addNode("deep", async () => {
        await stubborn.here();
        return { log: ["deep"] };
      })
      .addNode("deeper", async () => {
        after.push("deeper");
        return {};
      })
      .addEdge(START, "deep")
      .addEdge("deep", "deeper")
      .compile();
    const { graph } = chain(new MemorySaver(), {
      outer: async () => await inner.invoke({ log: [] }),
      last: "default",
    });
    const grant = await grantOf(a, "g");
    const run = watched(runGraph(grant, graph, { input, threadId: "t" }));
    await stubborn.reached;
    await lose("g");
    await settle();
    expect(run.now).toBe("pending");
    stubborn.release();
    await settle();
    expect(leftoversOf(run.error)).toEqual({ discarded: ["outer|deep"], stillRunning: [] });
    expect(after).toEqual([]);
  });

  it("a subgraph that is a node is waited for as well, and writes nothing after the loss", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const { saver, landed } = slowSaver();
    const { graph: inner } = chain(undefined, {
      deep: async () => {
        await stubborn.here();
        return { log: ["deep"] };
      },
      deeper: "default",
    });
    const graph = new StateGraph(State)
      .addNode("outer", inner)
      .addEdge(START, "outer")
      .compile({ checkpointer: saver });
    const grant = await grantOf(a, "g");
    const run = watched(runGraph(grant, graph, { input, threadId: "t" }));
    await stubborn.reached;
    const before = landed.length;
    await lose("g");
    await settle();
    expect(run.now).toBe("pending");
    stubborn.release();
    await settle();
    expect(leftoversOf(run.error)?.discarded).toEqual(["outer|deep"]);
    expect(landed).toHaveLength(before);
  });

  it("functional API: a workflow that ignores the abort cannot start another task", async () => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const started: string[] = [];
    const first = task("first", async () => {
      started.push("first");
      await stubborn.here();
      return 1;
    });
    const second = task("second", async () => {
      started.push("second");
      return 2;
    });
    const flow = entrypoint(
      { name: "flow", checkpointer: new MemorySaver() },
      async (_: number) => {
        await first().catch(() => 0);
        return await second();
      },
    );
    const grant = await grantOf(a, "g");
    const run = watched(runGraph(grant, flow, { input: 1, threadId: "t" }));
    await stubborn.reached;
    await lose("g");
    await settle();
    expect(run.now).toBe("pending");
    stubborn.release();
    await settle();
    expect(isGrantLost(run.error)).toBe(true);
    expect(started).toEqual(["first"]);
  });
});

describe("a node that throws while others run", () => {
  it("law 15: the node beside it is waited for, though langgraph reports it as ended", async () => {
    const { a } = replicas();
    const stubborn = stop();
    const E = new Error("E");
    const saver = new MemorySaver();
    const graph = new StateGraph(State)
      .addNode("throws", async () => {
        await stubborn.reached;
        throw E;
      })
      .addNode("slow", async () => {
        await stubborn.here();
        return { log: ["slow"] };
      })
      .addEdge(START, "throws")
      .addEdge(START, "slow")
      .compile({ checkpointer: saver });
    const events: RunEvent[] = [];
    const grant = await grantOf(a, "g");
    const options = { input, threadId: "t", onEvent: (event: RunEvent) => events.push(event) };
    const run = watched(runGraph(grant, graph, options));
    await stubborn.reached;
    await settle();
    expect(run.now).toBe("pending");
    const before = (await checkpoints(saver, "t")).length;
    stubborn.release();
    await settle();
    expect(run).toMatchObject({ now: "rejected", error: E });
    expect(events.at(-1)).toMatchObject({ type: "nodes-left", discarded: ["slow"] });
    expect(await checkpoints(saver, "t")).toHaveLength(before);
  });
});
