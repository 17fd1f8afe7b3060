import {
  Annotation,
  entrypoint,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { Grant } from "@sole-writer/core";
import { expectTypeOf, it } from "vitest";
import { type GraphRun, runGraph } from "../src/index.js";

const Counter = Annotation.Root({ n: Annotation<number>(), label: Annotation<string> });
const counter = new StateGraph(Counter)
  .addNode("one", async ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "one")
  .compile();
const chat = new StateGraph(MessagesAnnotation)
  .addNode("one", async () => ({ messages: [] }))
  .addEdge(START, "one")
  .compile();
const flow = entrypoint("flow", async (n: number) => String(n));

/** Only its types count: it is never called. */
async function typed(grant: Grant) {
  const run = await runGraph(grant, counter, { input: { n: 1 } });
  expectTypeOf(run).toEqualTypeOf<GraphRun<{ n: number; label: string }>>();
  // @ts-expect-error a string is no n
  await runGraph(grant, counter, { input: { n: "1" } });
  // @ts-expect-error null is how langgraph resumes, and no input
  await runGraph(grant, counter, { input: null });
  await runGraph(grant, chat, { input: { messages: [{ role: "user", content: "hi" }] } });
  const text = await runGraph(grant, flow, { input: 1 });
  expectTypeOf(text).toEqualTypeOf<GraphRun<string>>();
  // @ts-expect-error the workflow takes a number
  await runGraph(grant, flow, { input: "1" });
}

it("infers input and value from the graph", () => {
  expectTypeOf(typed).toBeFunction();
});
