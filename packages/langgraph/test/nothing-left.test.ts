import { getEventListeners } from "node:events";
import { END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { InMemoryCache } from "@langchain/langgraph-checkpoint";
import { isGrantLost } from "@sole-writer/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leftoversOf, runGraph } from "../src/index.js";
import { chain, State } from "./support/graphs.js";
import { errorOf, settle, stop } from "./support/promises.js";
import { grantOf, replicas, under } from "./support/replicas.js";

const input = { log: ["in"] };
const durabilities = ["sync", "async", "exit"] as const;

const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await settle();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

describe("what a run leaves behind", () => {
  it("no listener on any signal after 1,000 runs", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const caller = new AbortController();
    const grant = await grantOf(a, "g");
    const signals = [grant.signal, grant.draining, caller.signal];
    const count = () => signals.map((signal) => getEventListeners(signal, "abort").length);
    const before = count();
    for (let round = 0; round < 1_000; round += 1)
      await runGraph(grant, graph, { input, threadId: `t${round}`, signal: caller.signal });
    expect(count()).toEqual(before);
  });

  it("no warning when hundreds of runs share one signal, and all of them hear it", async () => {
    const { a } = replicas();
    const busy = stop();
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    const { graph, runs } = chain(new MemorySaver(), {
      one: async () => {
        await busy.here();
        return {};
      },
      two: "default",
    });
    const caller = new AbortController();
    const { signal } = caller;
    const all = Array.from({ length: 200 }, (_, i) =>
      runGraph(a, `g${i}`, graph, { input, threadId: `t${i}`, signal }),
    );
    await busy.reached;
    await settle();
    caller.abort();
    busy.release();
    const ends = await Promise.all(all);
    process.off("warning", warn);
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["handed-back"]));
    expect(runs).not.toContain("two");
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each(durabilities)("no unhandled rejection on loss, durability %s", async (durability) => {
    const { a, lose } = replicas();
    const stubborn = stop();
    const graph = new StateGraph(State)
      .addNode("stubborn", async () => {
        await stubborn.here();
        throw new Error("late");
      })
      .addNode("also", async () => {
        await stubborn.here();
        return {};
      })
      .addEdge(START, "stubborn")
      .addEdge(START, "also")
      .compile({ checkpointer: new MemorySaver() });
    const grant = await grantOf(a, "g");
    const run = errorOf(runGraph(grant, graph, { input, threadId: "t", durability }));
    await stubborn.reached;
    await lose("g");
    stubborn.release();
    expect(isGrantLost(await run)).toBe(true);
  });

  it.each(durabilities)(
    "no unhandled rejection when the saver fails, durability %s: its error is the run's",
    async (durability) => {
      const { a } = replicas();
      const methods = durability === "exit" ? (["put"] as const) : (["put", "putWrites"] as const);
      for (const method of methods) {
        const saver = new MemorySaver();
        saver[method] = async () => {
          throw new Error("no disk");
        };
        const { graph } = chain(saver, { one: "default", two: "default" });
        const outcome = await under(a, (grant) =>
          runGraph(grant, graph, { input, threadId: "t", durability }),
        );
        expect(outcome).toMatchObject({ status: "failed", error: { message: "no disk" } });
      }
    },
  );

  it.each(durabilities)("no unhandled rejection on a drain, durability %s", async (durability) => {
    const { a } = replicas();
    const busy = stop();
    const caller = new AbortController();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await busy.here();
        throw new Error("while draining");
      },
    });
    const run = under(a, (grant) =>
      runGraph(grant, graph, { input, threadId: "t", durability, signal: caller.signal }),
    );
    await busy.reached;
    caller.abort();
    busy.release();
    expect(await run).toMatchObject({ status: "failed", error: { message: "while draining" } });
  });

  it("no unhandled rejection on loss after a step that came from the node cache", async () => {
    const { a, lose } = replicas();
    const second = stop();
    let isHeld = false;
    const graph = new StateGraph(State)
      .addNode("cached", async () => ({ log: ["cached"] }), { cachePolicy: { keyFunc: () => "k" } })
      .addNode("second", async () => {
        if (isHeld) await second.here();
        return {};
      })
      .addEdge(START, "cached")
      .addEdge("cached", "second")
      .addEdge("second", END)
      .compile({ checkpointer: new MemorySaver(), cache: new InMemoryCache() });
    await under(a, (grant) => runGraph(grant, graph, { input, threadId: "t1" }));
    isHeld = true;
    const grant = await grantOf(a, "g");
    const run = errorOf(runGraph(grant, graph, { input, threadId: "t2" }));
    await second.reached;
    await lose("g");
    second.release();
    expect(isGrantLost(await run)).toBe(true);
    expect(leftoversOf(await run)?.discarded).toEqual(["second"]);
  });

  it("an observer that throws disturbs nothing", async () => {
    const { a } = replicas();
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const onEvent = () => {
      throw new Error("mine");
    };
    expect(
      await under(a, (grant) => runGraph(grant, graph, { input, threadId: "t", onEvent })),
    ).toMatchObject({ status: "ran" });
    expect((await warned).message).toContain("mine");
  });

  it("graphs that run outside of runGraph are not touched", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    await under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    const plain = chain(new MemorySaver(), { one: "default" });
    expect(await plain.graph.invoke(input, { configurable: { thread_id: "p" } })).toEqual({
      log: ["in", "one"],
    });
  });
});
