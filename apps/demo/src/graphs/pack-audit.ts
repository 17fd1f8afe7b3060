import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { boxesToWeigh, compareBins, shortBoxes } from "../warehouse/audit.js";
import type { BinStock, Box, Finding } from "../warehouse/model.js";
import { gramsFrom } from "../warehouse/quotes.js";
import { readBoxes, readStock } from "../warehouse/read.js";
import { writeFindings } from "../warehouse/write.js";
import { grantOfRun, onRecord, type Tools } from "./tools.js";

const State = Annotation.Root({
  /** The planned time of the tick. */
  window: Annotation<string>,
  stock: Annotation<readonly BinStock[]>,
  boxes: Annotation<readonly Box[]>,
  findings: Annotation<readonly Finding[]>,
  weighed: Annotation<readonly Box[]>,
  grams: Annotation<Readonly<Record<string, number>>>,
});
type Audit = typeof State.State;

/** Boxes and books, then the recount of every bin, then the scale, then the findings in their table. */
export function packAudit(tools: Tools) {
  const { pool, outside, saver } = tools;
  const node = <Update>(
    name: string,
    body: (audit: Audit, signal: AbortSignal | undefined) => Promise<Update>,
  ) => onRecord(tools, name, (audit: Audit, { signal }) => body(audit, signal));

  return new StateGraph(State)
    .addNode(
      "read_boxes",
      node("read_boxes", async () => {
        const [boxes, stock] = await Promise.all([readBoxes(pool), readStock(pool)]);
        return { boxes, stock };
      }),
    )
    .addNode(
      "recount_bins",
      node("recount_bins", async ({ stock, boxes }) => {
        const findings = compareBins(stock, boxes);
        return { findings, weighed: boxesToWeigh(boxes, findings) };
      }),
    )
    .addNode(
      "weigh_boxes",
      node("weigh_boxes", async ({ weighed }, signal) => {
        const names = weighed.map(({ box }) => box);
        return { grams: gramsFrom(await outside.weigh(names, signal)) };
      }),
    )
    .addNode(
      "judge_boxes",
      node("judge_boxes", async ({ findings, weighed, grams }) => ({
        findings: [...findings, ...shortBoxes(weighed, grams)],
      })),
    )
    .addNode(
      "write_findings",
      node("write_findings", async ({ window, findings }) => {
        const { graph, fence } = grantOfRun();
        await writeFindings(pool, { graph, fence: String(fence), window }, findings);
        return {};
      }),
    )
    .addEdge(START, "read_boxes")
    .addEdge("read_boxes", "recount_bins")
    .addEdge("recount_bins", "weigh_boxes")
    .addEdge("weigh_boxes", "judge_boxes")
    .addEdge("judge_boxes", "write_findings")
    .addEdge("write_findings", END)
    .compile({ checkpointer: saver });
}

/** A finished audit in a few words. */
export function describeAudit({ findings }: Pick<Audit, "findings">): string {
  const count = (kind: Finding["kind"]) => findings.filter((one) => one.kind === kind).length;
  return `${findings.length} findings: ${count("missing")} bins short, ${count("surplus")} over, ${count("wrong-bin")} boxes in the wrong bin, ${count("short-box")} too light`;
}
