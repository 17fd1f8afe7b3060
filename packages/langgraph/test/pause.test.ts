import { END, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { type Answer, runGraph } from "../src/index.js";
import { chain, State } from "./support/graphs.js";
import { replicas, under } from "./support/replicas.js";

const input = { log: ["in"] };
const asks = (question: string) => async () => ({ log: [String(interrupt(question))] });

function setup(graph: ReturnType<typeof chain>["graph"]) {
  const { a, b } = replicas();
  const call = (resume?: Answer, on = a) =>
    under(on, (grant) =>
      runGraph(grant, graph, { input, threadId: "t", runId: "r", ...(resume && { resume }) }),
    );
  return { a, b, call };
}

describe("a run that pauses", () => {
  it("ends as waiting, and the graph is free meanwhile", async () => {
    const { graph } = chain(new MemorySaver(), { ask: asks("ship?"), after: "default" });
    const { b, call } = setup(graph);
    expect(await call()).toMatchObject({
      status: "waiting",
      on: { interrupts: [{ value: "ship?", id: expect.any(String) }], next: ["ask"] },
    });
    expect(await b.inspect("g")).toMatchObject([{ state: "free" }]);
  });

  it("is passed by an answer, by whoever holds the graph then", async () => {
    const { graph } = chain(new MemorySaver(), { ask: asks("ship?"), after: "default" });
    const { b, call } = setup(graph);
    await call();
    expect(await call({ value: "yes" }, b)).toMatchObject({
      value: { status: "resumed", value: { log: ["in", "yes", "after"] } },
    });
  });

  it("stays where it is when it is called without an answer, and runs no node again", async () => {
    const { graph, runs } = chain(new MemorySaver(), { ask: asks("ship?") });
    const { call } = setup(graph);
    await call();
    expect(await call()).toMatchObject({ status: "waiting", on: { interrupts: [{}] } });
    expect(runs).toEqual(["ask"]);
  });

  it("an answer passes its own pause only; a second one like it is not used for the next", async () => {
    const { graph } = chain(new MemorySaver(), { one: asks("first?"), two: asks("second?") });
    const { a, call } = setup(graph);
    const first = await call();
    if (first.status !== "waiting") throw new Error(first.status);
    const { interrupts } = first.on as { interrupts: { id: string }[] };
    const answer = { value: "A", id: interrupts[0]?.id ?? "none" };
    expect(await call(answer)).toMatchObject({
      status: "waiting",
      on: { interrupts: [{ value: "second?" }] },
    });
    const again = { input, threadId: "t", runId: "r", resume: answer };
    expect(await runGraph(a, "g", graph, again)).toMatchObject({
      status: "waiting",
      on: { interrupts: [{ value: "second?" }] },
      unusedResume: true,
    });
    expect(await call({ value: "B" })).toMatchObject({
      value: { value: { log: ["in", "A", "B"] } },
    });
  });

  it("an answer that names its pause is used once, also when the same node asks again", async () => {
    const { graph } = chain(new MemorySaver(), {
      ask: async () => ({ log: [interrupt("first?") as string, interrupt("second?") as string] }),
    });
    const { a, call } = setup(graph);
    const first = await call();
    if (first.status !== "waiting") throw new Error(first.status);
    const { id: pause } = first.on as { id: string };
    const second = await call({ value: "A", pause });
    expect(second).toMatchObject({ status: "waiting", on: { interrupts: [{ value: "second?" }] } });
    const twice = { input, threadId: "t", runId: "r", resume: { value: "A", pause } };
    expect(await runGraph(a, "g", graph, twice)).toMatchObject({
      status: "waiting",
      unusedResume: true,
    });
    if (second.status !== "waiting") throw new Error(second.status);
    const { id: next } = second.on as { id: string };
    expect(next).not.toBe(pause);
    expect(await call({ value: "B", pause: next })).toMatchObject({
      value: { value: { log: ["in", "A", "B"] } },
    });
  });

  it("the same answer from two replicas at once passes one pause", async () => {
    const { graph } = chain(new MemorySaver(), { one: asks("first?"), two: asks("second?") });
    const { a, b } = setup(graph);
    const paused = await runGraph(a, "g", graph, { input, threadId: "t" });
    if (paused.status !== "waiting") throw new Error(paused.status);
    const resume = { value: "A", pause: paused.on.id };
    const both = await Promise.all(
      [a, b].map((replica) => runGraph(replica, "g", graph, { input, threadId: "t", resume })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["skipped", "waiting"]);
    const late = await runGraph(b, "g", graph, { input, threadId: "t", resume });
    expect(late).toMatchObject({
      status: "waiting",
      on: { interrupts: [{ value: "second?" }] },
      unusedResume: true,
    });
  });

  it("an answer after the end changes nothing, and the result says so", async () => {
    const { graph } = chain(new MemorySaver(), { ask: asks("ship?") });
    const { call } = setup(graph);
    await call();
    await call({ value: "yes" });
    expect(await call({ value: "no" })).toMatchObject({
      value: { status: "already-ran", value: { log: ["in", "yes"] }, unusedResume: true },
    });
  });

  it.each([[{}], [null], [false], [undefined], [0]])(
    "an answer of %o arrives as it is",
    async (value) => {
      const got: unknown[] = [];
      const { graph } = chain(new MemorySaver(), {
        ask: async () => {
          got.push(interrupt("?"));
          return {};
        },
      });
      const { call } = setup(graph);
      await call();
      await call({ value });
      expect(got).toEqual([value]);
    },
  );

  it("several questions at once need an answer with an id", async () => {
    const graph = new StateGraph(State)
      .addNode("left", asks("left?"))
      .addNode("right", asks("right?"))
      .addEdge(START, "left")
      .addEdge(START, "right")
      .compile({ checkpointer: new MemorySaver() });
    const { call } = setup(graph as unknown as Parameters<typeof setup>[0]);
    const paused = await call();
    if (paused.status !== "waiting") throw new Error(paused.status);
    const { interrupts } = paused.on as { interrupts: { id: string; value: string }[] };
    expect(interrupts.map(({ value }) => value).sort()).toEqual(["left?", "right?"]);
    expect(await call({ value: "?" })).toMatchObject({
      status: "failed",
      error: { code: "INVALID_OPTION" },
    });
    const idOf = (value: string) => interrupts.find((one) => one.value === value)?.id ?? "none";
    expect(await call({ value: "L", id: idOf("left?") })).toMatchObject({
      status: "waiting",
      on: { interrupts: [{ value: "right?" }] },
    });
    expect(await call({ value: "R" })).toMatchObject({
      value: { status: "resumed", value: { log: ["in", "L", "R"] } },
    });
  });

  it("a question asked in a subgraph is the run's, and its answer gets there", async () => {
    const { graph: inner } = chain(undefined, { deep: asks("deep?") });
    const graph = new StateGraph(State)
      .addNode("outer", async () => ({ log: (await inner.invoke({ log: [] })).log }))
      .addEdge(START, "outer")
      .addEdge("outer", END)
      .compile({ checkpointer: new MemorySaver() });
    const { call } = setup(graph as unknown as Parameters<typeof setup>[0]);
    expect(await call()).toMatchObject({ status: "waiting", on: { next: ["outer"] } });
    expect(await call({ value: "yes" })).toMatchObject({
      value: { value: { log: ["in", "yes"] } },
    });
  });

  it("a breakpoint before a node: a call without an answer does not walk past it", async () => {
    const { graph, runs } = chain(
      new MemorySaver(),
      { one: "default", two: "default" },
      { interruptBefore: ["two"] },
    );
    const { call } = setup(graph);
    expect(await call()).toMatchObject({
      status: "waiting",
      on: { interrupts: [], next: ["two"] },
    });
    expect(await call()).toMatchObject({ status: "waiting" });
    expect(await call({ value: 1, id: "another" })).toMatchObject({ status: "waiting" });
    expect(runs).toEqual(["one"]);
    expect(await call({})).toMatchObject({ value: { status: "resumed" } });
    expect(runs).toEqual(["one", "two"]);
  });

  it("what lets a run pass a breakpoint does not answer the question that comes next", async () => {
    const { graph } = chain(
      new MemorySaver(),
      { one: "default", ask: asks("ship?") },
      { interruptBefore: ["ask"] },
    );
    const { call } = setup(graph);
    await call();
    expect(await call({ value: "go on" })).toMatchObject({
      status: "waiting",
      on: { interrupts: [{ value: "ship?" }] },
    });
  });

  it("a breakpoint after a node, likewise", async () => {
    const { graph, runs } = chain(
      new MemorySaver(),
      { one: "default", two: "default" },
      { interruptAfter: ["one"] },
    );
    const { call } = setup(graph);
    expect(await call()).toMatchObject({ status: "waiting", on: { next: ["two"] } });
    expect(await call()).toMatchObject({ status: "waiting" });
    expect(runs).toEqual(["one"]);
    expect(await call({})).toMatchObject({ value: { status: "resumed" } });
    expect(runs).toEqual(["one", "two"]);
  });

  it("a breakpoint that was passed does not stop the run again after a crash further on", async () => {
    const E = new Error("E");
    let fail = true;
    const { graph, runs } = chain(
      new MemorySaver(),
      {
        one: "default",
        two: "default",
        three: async () => {
          if (fail) throw E;
          return {};
        },
      },
      { interruptAfter: ["one"] },
    );
    const { call } = setup(graph);
    await call();
    expect(await call({})).toMatchObject({ status: "failed", error: E });
    fail = false;
    expect(await call()).toMatchObject({ value: { status: "resumed" } });
    expect(runs).toEqual(["one", "two", "three", "three"]);
  });
});
