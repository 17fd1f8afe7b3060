import { MemorySaver } from "@langchain/langgraph";
import type { Grant } from "@sole-writer/core";
import { describe, expect, it } from "vitest";
import { currentGrant, runGraph } from "../src/index.js";
import { chain } from "./support/graphs.js";
import { grantOf, replicas } from "./support/replicas.js";

const input = { log: [] };

describe("the grant, as nodes find it", () => {
  it("in the async context, in subgraphs too, and nowhere else", async () => {
    const { a } = replicas();
    const found: (Grant | undefined)[] = [];
    const { graph: inner } = chain(undefined, {
      deep: async () => {
        found.push(currentGrant());
        return {};
      },
    });
    const { graph } = chain(new MemorySaver(), {
      one: async () => {
        found.push(currentGrant());
        await inner.invoke({ log: [] });
        return {};
      },
    });
    const grant = await grantOf(a, "g");
    await runGraph(grant, graph, { input, threadId: "t" });
    expect(found).toEqual([grant, grant]);
    expect(currentGrant()).toBeUndefined();
  });

  it("in configurable, as plain data: graph, fence, and the attempt where there is a unit", async () => {
    const { a } = replicas();
    const found: unknown[] = [];
    const { graph } = chain(new MemorySaver(), {
      one: async (_, { configurable }) => {
        found.push(configurable);
        return {};
      },
    });
    const grant = await grantOf(a, "g");
    const unit = { id: "u", payload: 1, attempt: 3, maxAttempts: 5 };
    const config = { configurable: { tenant: "acme" } };
    await runGraph(grant, graph, { input, threadId: "t", config });
    const withUnit: Grant = Object.create(grant, { unit: { value: unit } });
    await runGraph(withUnit, graph, { input, threadId: "t" });
    expect(found[0]).toMatchObject({
      tenant: "acme",
      thread_id: "t",
      sole_writer_graph: "g",
      sole_writer_fence: String(grant.fence),
    });
    expect(found[0]).not.toHaveProperty("sole_writer_attempt");
    expect(found[1]).toMatchObject({ sole_writer_attempt: 3 });
  });

  it("two runs side by side find each its own", async () => {
    const { a } = replicas();
    const { graph } = chain(undefined, {
      one: async () => ({ log: [currentGrant()?.graph ?? "none"] }),
    });
    const [first, second] = await Promise.all([grantOf(a, "x"), grantOf(a, "y")]);
    const [x, y] = await Promise.all([
      runGraph(first, graph, { input }),
      runGraph(second, graph, { input }),
    ]);
    expect([x, y]).toMatchObject([{ value: { log: ["x"] } }, { value: { log: ["y"] } }]);
  });
});
