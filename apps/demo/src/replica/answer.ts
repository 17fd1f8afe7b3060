import { isSoleWriterError } from "@sole-writer/core";
import type { GraphOutcome } from "@sole-writer/langgraph";
import type { TickAnswer } from "./protocol.js";

/** An outcome as plain data. `describe` says in a few words what a finished run returned. */
export function answerOf<T>(outcome: GraphOutcome<T>, describe: (value: T) => string): TickAnswer {
  switch (outcome.status) {
    case "ran": {
      const { status, how, value, heldMs } = outcome;
      return { status, how, fence: String(outcome.fence), result: describe(value), heldMs };
    }
    case "skipped": {
      const { reason, holder, message } = outcome.refusal;
      return { status: "skipped", reason, message, ...(holder && { holder: holder.label }) };
    }
    case "failed":
      return { status: "failed", message: said(outcome.error), fence: String(outcome.fence) };
    case "lost": {
      const { reason, message } = outcome.error;
      return { status: "lost", reason, message, fence: String(outcome.fence) };
    }
    case "handed-back":
      return { status: "stopped", message: outcome.reason };
    case "waiting":
      return { status: "stopped", message: "it waits for an answer" };
  }
}

/** What `runGraph` threw: the backend could not be asked, or something is wrong with the program. */
export function answerForError(error: unknown): TickAnswer {
  const code = isSoleWriterError(error) ? error.code : "UNEXPECTED";
  return { status: "error", code, message: said(error) };
}

/** What an error says. */
export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
