import {
  BaseCheckpointSaver,
  Command,
  entrypoint,
  interrupt,
  MemorySaver,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { isGrantLost } from "@sole-writer/core";
import { describe, expect, it } from "vitest";
import { currentGrant, fenced, runGraph, UnfencedWriteError, withGrant } from "../src/index.js";
import { chain, checkpoints, State, slowSaver, thread } from "./support/graphs.js";
import { errorOf, settle, stop, watched } from "./support/promises.js";
import { grantOf, replicas, under } from "./support/replicas.js";

const input = { log: ["in"] };

/** A graph whose only node is a graph of its own, which shares its saver. */
function nested(saver: BaseCheckpointSaver) {
  const inner = new StateGraph(State)
    .addNode("deep", async () => ({ log: ["deep"] }))
    .addEdge(START, "deep")
    .compile();
  return new StateGraph(State).addNode("outer", inner).addEdge(START, "outer").compile({
    checkpointer: saver,
  });
}

function functional(saver: BaseCheckpointSaver) {
  const double = task("double", async (value: number) => value * 2);
  return entrypoint(
    { name: "f", checkpointer: saver },
    async (value: number) => await double(value),
  );
}

describe("a graph with a fenced saver, outside of a grant", () => {
  const saver = () => fenced(new MemorySaver());
  const attempts: Record<string, () => Promise<unknown>> = {
    invoke: () => chain(saver(), { one: "default" }).graph.invoke(input, thread("t")),
    stream: async () => {
      const chunks = await chain(saver(), { one: "default" }).graph.stream(input, thread("t"));
      for await (const _ of chunks);
    },
    "a subgraph": () => nested(saver()).invoke(input, thread("t")),
    entrypoint: () => functional(saver()).invoke(4, thread("t")),
    updateState: () => chain(saver(), { one: "default" }).graph.updateState(thread("t"), input),
    deleteThread: () => saver().deleteThread("t"),
    put: () => saver().put(thread("t"), { id: "1" } as never, {} as never) as Promise<unknown>,
    putWrites: () => saver().putWrites(thread("t"), [], "task"),
  };

  it.each(Object.keys(attempts))("%s is refused, and the error says what to do", async (how) => {
    const error = await errorOf(attempts[how]?.() ?? Promise.resolve());
    expect(error).toBeInstanceOf(UnfencedWriteError);
    expect(error).toMatchObject({ code: "UNFENCED_WRITE" });
    expect(String(error)).toMatch(/thread "t".*runGraph.*withGrant/);
  });

  it("can be read", async () => {
    const plain = new MemorySaver();
    await chain(plain, { one: "default" }).graph.invoke(input, thread("t"));
    const { graph } = chain(fenced(plain), { one: "default" });
    expect((await graph.getState(thread("t"))).values).toEqual({ log: ["in", "one"] });
    expect(await checkpoints(fenced(plain), "t")).toHaveLength(3);
  });

  it("runs no node, with the durability that writes first", async () => {
    const { graph, runs } = chain(saver(), { one: "default" });
    await errorOf(graph.invoke(input, { ...thread("t"), durability: "sync" }));
    expect(runs).toEqual([]);
  });
});

describe("a graph with a fenced saver, under a grant", () => {
  it("runs, with its subgraphs, its tasks and its state edited by hand", async () => {
    const { a } = replicas();
    const saver = fenced(new MemorySaver());
    expect(await runGraph(a, "g", nested(saver), { input, threadId: "n" })).toMatchObject({
      value: { log: ["in", "in", "deep"] },
    });
    expect(await runGraph(a, "g", functional(saver), { input: 4, threadId: "f" })).toMatchObject({
      value: 8,
    });
    const { graph } = chain(saver, { one: "default" });
    await under(a, (grant) =>
      withGrant(grant, async () => {
        expect(currentGrant()).toBe(grant);
        await graph.invoke(input, thread("i"));
        await graph.updateState(thread("i"), { log: ["by hand"] });
        await saver.deleteThread("n");
      }),
    );
    expect((await graph.getState(thread("i"))).values).toEqual({ log: ["in", "one", "by hand"] });
    expect(await checkpoints(saver, "n")).toEqual([]);
  });

  it("pauses and is answered", async () => {
    const { a } = replicas();
    const { graph } = chain(fenced(new MemorySaver()), {
      one: async () => ({ log: [interrupt("ok?") as string] }),
    });
    const options = { input, threadId: "t" };
    expect(await runGraph(a, "g", graph, options)).toMatchObject({ status: "waiting" });
    const error = await errorOf(graph.invoke(new Command({ resume: "yes" }), thread("t")));
    expect(error).toBeInstanceOf(UnfencedWriteError);
    const answered = await runGraph(a, "g", graph, { ...options, resume: { value: "yes" } });
    expect(answered).toMatchObject({ how: "resumed", value: { log: ["in", "yes"] } });
  });

  it("is refused at once when the grant is lost, or settled", async () => {
    const { a, lose } = replicas();
    const { graph } = chain(fenced(new MemorySaver()), { one: "default" });
    const grant = await grantOf(a, "g");
    await withGrant(grant, async () => {
      await lose("g");
      expect(isGrantLost(await errorOf(graph.invoke(input, thread("t"))))).toBe(true);
    });
    const settled = await grantOf(a, "h");
    await settled.settle({ kind: "done" });
    expect(isGrantLost(await errorOf(withGrant(settled, async () => undefined)))).toBe(true);
  });

  it("law 15: withGrant comes back when the writes that nobody waited for have landed", async () => {
    const { a } = replicas();
    const slow = slowSaver();
    const saver = fenced(slow.saver);
    const grant = await grantOf(a, "g");
    const gate = slow.hold();
    const at = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "1" } };
    const work = watched(
      withGrant(grant, async () => {
        void saver.putWrites(at, [], "task");
      }),
    );
    await gate.reached;
    await settle();
    expect(work.now).toBe("pending");
    gate.release();
    await settle();
    expect(work.now).toBe("resolved");
    expect(slow.landed).toEqual(["writes"]);
  });

  it("what is left running behind withGrant can write no more", async () => {
    const { a } = replicas();
    const saver = fenced(new MemorySaver());
    const later = stop();
    const grant = await grantOf(a, "g");
    let left: Promise<unknown> | undefined;
    await withGrant(grant, async () => {
      left = later.here().then(() => errorOf(saver.deleteThread("t")));
    });
    later.release();
    expect(String(await left)).toMatch(/The work under the grant on "g" is over/);
  });
});

describe("a fenced saver is its saver in everything else", () => {
  class Special extends MemorySaver {
    readonly #secret = 7;
    mutable = 1;
    get secret() {
      return this.#secret;
    }
    ofTomorrow(factor: number) {
      return this.#secret * factor;
    }
  }

  it("has its members, those that only it has, and takes assignments", () => {
    const plain = new Special();
    const saver = fenced(plain);
    expect(saver).toBeInstanceOf(BaseCheckpointSaver);
    expect(saver).toBeInstanceOf(Special);
    expect(saver.secret).toBe(7);
    expect(saver.ofTomorrow(6)).toBe(42);
    expect(saver.ofTomorrow).toBe(saver.ofTomorrow);
    expect(saver.serde).toBe(plain.serde);
    saver.mutable = 2;
    expect(plain.mutable).toBe(2);
    expect(JSON.stringify(saver)).toBe(JSON.stringify(plain));
  });

  it("is not wrapped twice", () => {
    const saver = fenced(new MemorySaver());
    expect(fenced(saver)).toBe(saver);
  });
});
