import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph } from "../src/index.js";
import { chain, checkpoints, slowSaver, thread } from "./support/graphs.js";
import { errorOf, settle } from "./support/promises.js";
import { grantOf, replicas, under } from "./support/replicas.js";

const E = new Error("E");
const input = { log: ["in"] };

/** A node that throws as often as it is told to, and then logs its name. */
function failing(name: string, times: number) {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw E;
    return { log: [name] };
  };
}

describe("a run and its thread", () => {
  it("starts on an empty thread and returns what invoke returns", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default", two: "default" });
    const outcome = await under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    expect(outcome).toMatchObject({
      status: "ran",
      value: { status: "ran", value: { log: ["in", "one", "two"] } },
    });
  });

  it("a run that is called again has run already, and gives the same value without running", async () => {
    const { a, b } = replicas();
    const saver = new MemorySaver();
    const { graph, runs } = chain(saver, { one: "default" });
    const first = await under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    const before = await checkpoints(saver, "t");
    const second = await under(b, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    expect(second).toMatchObject({
      value: { status: "already-ran", value: { log: ["in", "one"] } },
    });
    expect(first).toMatchObject({ value: { value: { log: ["in", "one"] } } });
    expect(runs).toEqual(["one"]);
    expect(await checkpoints(saver, "t")).toEqual(before);
  });

  it("after a node threw, the next attempt resumes: no finished node and no input twice", async () => {
    const { a, b } = replicas();
    const { graph, runs } = chain(new MemorySaver(), {
      one: "default",
      two: failing("two", 2),
      three: "default",
    });
    const run = (c: typeof a) =>
      under(c, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    expect(await run(a)).toMatchObject({ status: "failed", error: E, during: "work" });
    expect(await run(b)).toMatchObject({ status: "failed", error: E });
    expect(await run(a)).toMatchObject({
      value: { status: "resumed", value: { log: ["in", "one", "two", "three"] } },
    });
    expect(runs).toEqual(["one", "two", "two", "two", "three"]);
  });

  it("a result that is stored while the checkpoint after it is not is used, and the node not repeated", async () => {
    const { a } = replicas();
    const saver = new MemorySaver();
    const put = saver.put.bind(saver);
    let fail = true;
    saver.put = async (...args) => {
      if (fail && args[2].step === 1) throw new Error("no disk");
      return put(...args);
    };
    const { graph, runs } = chain(saver, { one: "default" });
    const run = () => under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    expect(await run()).toMatchObject({ status: "failed", error: { message: "no disk" } });
    fail = false;
    expect(await run()).toMatchObject({
      value: { status: "resumed", value: { log: ["in", "one"] } },
    });
    expect(runs).toEqual(["one"]);
  });

  it("the error that a node threw is thrown itself, not a copy and not wrapped", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: failing("one", 1) });
    const grant = await grantOf(a, "g");
    expect(await errorOf(runGraph(grant, graph, { input, threadId: "t" }))).toBe(E);
    expect(grant.ending).toBeUndefined();
  });

  it("a second run on a finished thread is not swallowed: it starts with its own input", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const run = (runId: string) =>
      under(a, (grant) =>
        runGraph(grant, graph, { input: { log: [runId] }, threadId: "t", runId }),
      );
    await run("monday");
    expect(await run("tuesday")).toMatchObject({
      value: { status: "ran", value: { log: ["monday", "one", "tuesday", "one"] } },
    });
    expect(await run("tuesday")).toMatchObject({ value: { status: "already-ran" } });
  });

  it("a second run on a thread that another run left unfinished starts with its own input", async () => {
    const { a } = replicas();
    const { graph, runs } = chain(new MemorySaver(), { one: "default", two: failing("two", 1) });
    const run = (runId: string) =>
      under(a, (grant) =>
        runGraph(grant, graph, { input: { log: [runId] }, threadId: "t", runId }),
      );
    expect(await run("first")).toMatchObject({ status: "failed" });
    expect(await run("second")).toMatchObject({ value: { status: "ran" } });
    expect(runs).toEqual(["one", "two", "one", "two"]);
  });

  it("the id of the grant's unit is the run, unless the caller gives one", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const run = (id: string) =>
      under(a, (grant) => {
        const unit = { id, payload: undefined, attempt: 1, maxAttempts: 5 };
        return runGraph(Object.create(grant, { unit: { value: unit } }), graph, {
          input,
          threadId: "t",
        });
      });
    expect(await run("u1")).toMatchObject({ value: { status: "ran" } });
    expect(await run("u1")).toMatchObject({ value: { status: "already-ran" } });
    expect(await run("u2")).toMatchObject({ value: { status: "ran" } });
  });

  it("a state that a person edited between two attempts still belongs to the run", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default", two: failing("two", 1) });
    const run = () =>
      under(a, (grant) => runGraph(grant, graph, { input, threadId: "t", runId: "r" }));
    expect(await run()).toMatchObject({ status: "failed" });
    await graph.updateState(thread("t"), { log: ["edited"] }, "one");
    await graph.updateState(thread("t"), { log: ["twice"] }, "one");
    expect(await run()).toMatchObject({
      value: { status: "resumed", value: { log: ["in", "one", "edited", "twice", "two"] } },
    });
  });

  it("a graph without a checkpointer just runs, every time", async () => {
    const { a } = replicas();
    const { graph } = chain(undefined, { one: "default" });
    for (const options of [{ input }, { input, threadId: "t" }])
      expect(await under(a, (grant) => runGraph(grant, graph, options))).toMatchObject({
        value: { status: "ran", value: { log: ["in", "one"] } },
      });
  });

  it("a graph with a checkpointer and no threadId is refused before anything runs", async () => {
    const { a } = replicas();
    const { graph, runs } = chain(new MemorySaver(), { one: "default" });
    expect(await under(a, (grant) => runGraph(grant, graph, { input }))).toMatchObject({
      status: "failed",
      error: { code: "INVALID_OPTION" },
    });
    expect(runs).toEqual([]);
  });

  it("runs of other code on the thread are no runs of ours", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    await graph.invoke({ log: ["theirs"] }, thread("t"));
    expect(
      await under(a, (grant) => runGraph(grant, graph, { input, threadId: "t", runId: "r" })),
    ).toMatchObject({ value: { status: "ran", value: { log: ["theirs", "one", "in", "one"] } } });
  });

  it("unless told otherwise, no super-step begins before the checkpoint of the one before is stored", async () => {
    const { a } = replicas();
    const { saver, landed, hold } = slowSaver();
    let gate: ReturnType<typeof hold> | undefined;
    const { graph, runs } = chain(saver, {
      one: async () => {
        await settle();
        gate = hold();
        return { log: ["one"] };
      },
      two: "default",
    });
    const run = under(a, (grant) => runGraph(grant, graph, { input, threadId: "t" }));
    while (!gate) await settle();
    await gate.reached;
    await settle();
    expect(runs).toEqual(["one"]);
    gate.release();
    expect(await run).toMatchObject({ status: "ran" });
    expect(landed).toContain("loop 2");
  });

  it.each(["sync", "async", "exit"] as const)(
    "durability %s: finished, failed and resumed all the same",
    async (durability) => {
      const { a } = replicas();
      const { graph } = chain(new MemorySaver(), { one: "default", two: failing("two", 1) });
      const run = () =>
        under(a, (grant) =>
          runGraph(grant, graph, { input, threadId: "t", runId: "r", durability }),
        );
      expect(await run()).toMatchObject({ status: "failed", error: E });
      expect(await run()).toMatchObject({
        value: { status: "resumed", value: { log: ["in", "one", "two"] } },
      });
      expect(await run()).toMatchObject({
        value: { status: "already-ran", value: { log: ["in", "one", "two"] } },
      });
    },
  );
});
