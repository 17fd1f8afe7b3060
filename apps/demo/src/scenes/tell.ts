import type { GraphName, TickAnswer } from "../replica/protocol.js";
import type { ReplicaProcess } from "../stage/replica-process.js";
import type { Stage } from "../stage/stage.js";
import { shownMs } from "./scene.js";

/** One tick whose end is told in the story. */
export async function tellTick(
  stage: Stage,
  replica: ReplicaProcess,
  graph: GraphName,
  window: string,
  askAgainMs?: number,
): Promise<TickAnswer> {
  const { answer, atNs } = await replica.tick(graph, window, askAgainMs);
  const [tone, text] = wordsFor(answer);
  stage.say(replica.label, tone, `${graph} ${text}`, atNs);
  return answer;
}

function wordsFor(answer: TickAnswer): ["good" | "bad" | "quiet", string] {
  switch (answer.status) {
    case "ran": {
      const how = answer.how === "resumed" ? "resumed behind the finished nodes and " : "";
      return ["good", `${how}ran for ${shownMs(answer.heldMs)}: ${answer.result}`];
    }
    case "skipped":
      return ["quiet", `skipped: ${answer.message}`];
    case "gone":
      return ["bad", `had no end: the process is gone (${answer.message})`];
    case "lost":
      return ["bad", `was stopped: ${answer.message}`];
    case "error":
      return ["bad", `was not run (${answer.code}): ${answer.message}`];
    default:
      return ["bad", `${answer.status}: ${answer.message}`];
  }
}
