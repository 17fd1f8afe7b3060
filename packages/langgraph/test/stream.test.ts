import { MemorySaver } from "@langchain/langgraph";
import { isGrantLost } from "@sole-writer/core";
import { describe, expect, it } from "vitest";
import { type GraphStream, streamGraph } from "../src/index.js";
import { chain } from "./support/graphs.js";
import { deferred, errorOf, settle, stop, watched } from "./support/promises.js";
import { grantOf, replicas } from "./support/replicas.js";

const input = { log: ["in"] };

async function read(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** Whether nobody holds the graph: another replica gets it, and gives it back. */
async function isFree({ b }: ReturnType<typeof replicas>): Promise<boolean> {
  const answer = await b.acquire("g");
  if (answer.granted) await answer.settle({ kind: "handed-back", reason: "only looked" });
  return answer.granted;
}

describe("a stream", () => {
  it("gives LangGraph's own chunks, and the outcome that runGraph would give", async () => {
    const there = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default", two: "default" });
    const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
    expect(await read(stream)).toEqual([{ one: { log: ["one"] } }, { two: { log: ["two"] } }]);
    expect(await stream.outcome()).toMatchObject({
      status: "ran",
      how: "ran",
      value: { log: ["in", "one", "two"] },
    });
    expect(await isFree(there)).toBe(true);
  });

  it("passes on the stream modes that were asked for", async () => {
    const { a } = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const streamMode = ["updates" as const, "values" as const];
    const chunks = await read(streamGraph(a, "g", graph, { input, threadId: "t", streamMode }));
    expect(chunks).toEqual([
      ["values", { log: ["in"] }],
      ["updates", { one: { log: ["one"] } }],
      ["values", { log: ["in", "one"] }],
    ]);
  });

  it("of a run that has finished has no chunk, and its value", async () => {
    const { a } = replicas();
    const { graph, runs } = chain(new MemorySaver(), { one: "default" });
    const options = { input, threadId: "t" };
    await streamGraph(a, "g", graph, options).outcome();
    const again = streamGraph(a, "g", graph, options);
    expect(await read(again)).toEqual([]);
    expect(await again.outcome()).toMatchObject({ how: "already-ran" });
    expect(runs).toEqual(["one"]);
  });

  it("of a graph that another replica runs has no chunk, and the refusal", async () => {
    const { a, b } = replicas();
    await grantOf(b, "g");
    const { graph, runs } = chain(new MemorySaver(), { one: "default" });
    const stream = streamGraph(a, "g", graph, { input, threadId: "t" });
    expect(await read(stream)).toEqual([]);
    expect(await stream.outcome()).toMatchObject({ status: "skipped" });
    expect(runs).toEqual([]);
  });

  it("that stops at an interrupt ends there, and holds nothing meanwhile", async () => {
    const there = replicas();
    const { graph } = chain(
      new MemorySaver(),
      { one: "default", two: "default" },
      { interruptBefore: ["two"] },
    );
    const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
    await read(stream);
    expect(await stream.outcome()).toMatchObject({ status: "waiting", on: { next: ["two"] } });
    expect(await isFree(there)).toBe(true);
  });

  it("throws the node's error to its reader, after the chunks before it", async () => {
    const { a } = replicas();
    const broken = new Error("no tape");
    const { graph } = chain(new MemorySaver(), {
      one: "default",
      two: async () => {
        throw broken;
      },
    });
    const stream = streamGraph(a, "g", graph, { input, threadId: "t" });
    expect(await stream.next()).toMatchObject({ value: { one: {} } });
    expect(await errorOf(stream.next())).toBe(broken);
    expect(await stream.outcome()).toMatchObject({ status: "failed", error: broken });
  });

  it("throws the loss of the grant to its reader", async () => {
    const { a, lose } = replicas();
    const here = stop();
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        await here.here();
        return {};
      },
    });
    const stream = streamGraph(a, "g", graph, { input, threadId: "t" });
    const reading = errorOf(read(stream));
    await here.reached;
    await lose("g");
    here.release();
    expect(isGrantLost(await reading)).toBe(true);
    expect(await stream.outcome()).toMatchObject({ status: "lost" });
  });

  it("under a grant of one's own throws what runGraph throws, and leaves the grant to its holder", async () => {
    const there = replicas();
    const grant = await grantOf(there.a, "g");
    const { graph } = chain(new MemorySaver(), { one: "default" });
    const stream = streamGraph(grant, graph, { input, threadId: "t" });
    await read(stream);
    expect(await stream.outcome()).toMatchObject({ status: "ran" });
    expect(await isFree(there)).toBe(false);
    await grant.settle({ kind: "done" });
    const late = streamGraph(grant, graph, { input, threadId: "u" });
    expect(isGrantLost(await errorOf(read(late)))).toBe(true);
    expect(isGrantLost(await errorOf(late.outcome()))).toBe(true);
  });
});

describe("a stream whose reader goes away", () => {
  /** Two nodes; the second waits for its signal, as a model's client does. */
  function obedient() {
    const aborted = deferred();
    const reached = deferred();
    const made = chain(new MemorySaver(), {
      one: "default",
      two: async (_, { signal }) => {
        reached.resolve();
        await new Promise<void>((_, reject) => {
          signal?.addEventListener("abort", () => {
            aborted.resolve();
            reject(new Error("aborted"));
          });
        });
        return {};
      },
    });
    return { ...made, reached: reached.promise, aborted: aborted.promise };
  }

  async function leave(
    stream: GraphStream<unknown, unknown>,
    how: "break" | "throw",
    when?: Promise<void>,
  ) {
    for await (const _ of stream) {
      await when;
      if (how === "throw") throw new Error("the reader's own");
      break;
    }
  }

  it.each(["break", "throw"] as const)(
    "by %s: its nodes are aborted, and the grant is free when the loop is left",
    async (how) => {
      const there = replicas();
      const { graph, reached, aborted } = obedient();
      const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
      const left = leave(stream, how, reached);
      if (how === "throw")
        expect(await errorOf(left)).toMatchObject({ message: "the reader's own" });
      else await left;
      await aborted;
      expect(await isFree(there)).toBe(true);
      expect(await stream.outcome()).toMatchObject({ status: "handed-back" });
    },
  );

  it("is waited for, when a node ignores the abort; the next run goes on behind the last checkpoint", async () => {
    const there = replicas();
    const stubborn = stop();
    const saver = new MemorySaver();
    const bodies = {
      one: "default" as const,
      two: async () => {
        await stubborn.here();
        return { log: ["late"] };
      },
    };
    const { graph } = chain(saver, bodies);
    const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
    await stream.next();
    await stubborn.reached;
    const left = watched(stream.return());
    await settle();
    expect(left.now).toBe("pending");
    expect(await isFree(there)).toBe(false);
    stubborn.release();
    await stream.outcome();
    const next = chain(saver, { one: "default", two: "default" });
    const outcome = await streamGraph(there.b, "g", next.graph, {
      input,
      threadId: "t",
    }).outcome();
    expect(outcome).toMatchObject({ how: "resumed", value: { log: ["in", "one", "two"] } });
    expect(next.runs).toEqual(["two"]);
  });

  it("leaves no grant behind in 100 rounds", async () => {
    const there = replicas();
    for (let round = 0; round < 100; round += 1) {
      const { graph } = obedient();
      await leave(streamGraph(there.a, "g", graph, { input, threadId: `${round}` }), "break");
      expect(await isFree(there)).toBe(true);
    }
  });
});

describe("the grant of a stream lives as long as the work", () => {
  it("a stream that nobody reads begins nothing", async () => {
    const there = replicas();
    const { graph, runs } = chain(new MemorySaver(), { one: "default" });
    const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
    await settle();
    expect(await isFree(there)).toBe(true);
    await stream.return();
    expect(await read(stream)).toEqual([]);
    expect(runs).toEqual([]);
  });

  it("a reader that pauses for many leases keeps the grant while the run lasts, and misses no chunk", async () => {
    const there = replicas();
    const here = stop();
    const { graph } = chain(new MemorySaver(), {
      one: "default",
      two: async () => {
        await here.here();
        return { log: ["two"] };
      },
    });
    const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
    await stream.next();
    await here.reached;
    for (let beat = 0; beat < 50; beat += 1) await there.clock.advance(1_000);
    expect(await isFree(there)).toBe(false);
    here.release();
    expect(await read(stream)).toEqual([{ two: { log: ["two"] } }]);
  });

  it("is over when the run is, although its chunks wait to be read", async () => {
    const there = replicas();
    const { graph } = chain(new MemorySaver(), { one: "default", two: "default" });
    const stream = streamGraph(there.a, "g", graph, { input, threadId: "t" });
    await stream.outcome();
    expect(await isFree(there)).toBe(true);
    expect(await read(stream)).toHaveLength(2);
  });
});
