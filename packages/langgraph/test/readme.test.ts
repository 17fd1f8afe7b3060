import { readFileSync } from "node:fs";
import { Annotation, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { memoryCoordinator } from "@sole-writer/core/testing";
import { expect, it } from "vitest";
import { runGraph } from "../src/index.js";

const coordinator = memoryCoordinator();
let attempts = 0;
async function flaky(done: string): Promise<string> {
  attempts += 1;
  if (attempts === 1) throw new Error("no tape");
  return `${done}, packed`;
}

// The example of the README, character by character: the test at the end compares them.
it("resumes after a crash, without its input", async () => {
  const orders = new StateGraph(Annotation.Root({ done: Annotation<string> }))
    .addNode("reserve", async () => ({ done: "reserved" }))
    .addNode("pack", async ({ done }) => ({ done: await flaky(done) }))
    .addEdge(START, "reserve")
    .addEdge("reserve", "pack")
    .compile({ checkpointer: new MemorySaver() });
  const run = () =>
    runGraph(coordinator, "fulfil_order", orders, { input: { done: "" }, threadId: "order 7" });

  expect(await run()).toMatchObject({ status: "failed" }); // "pack" threw
  expect(await run()).toMatchObject({ status: "ran", how: "resumed" }); // only "pack" ran again
  expect(await run()).toMatchObject({ status: "ran", how: "already-ran" }); // nothing ran
});

it("the example in the README is the one that runs here", () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
  const example = /```ts\n(it\([\s\S]*?)```/.exec(read("../README.md"))?.[1] ?? "none";
  expect(read("readme.test.ts")).toContain(example);
});
