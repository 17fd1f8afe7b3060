import { Command, type Interrupt } from "@langchain/langgraph";
import { InvalidOptionError } from "@sole-writer/core";

/** Where a run waits for a person or an event. Plain data: a backlog can store it. */
export interface Pause {
  /**
   * Tells this pause from every other one of the thread, also from the next one of the same node. Send it
   * along with the question, and take it back with the answer: see {@link Answer.pause}.
   */
  readonly id: string;
  /** The questions asked with `interrupt()`; none at a breakpoint (`interruptBefore`, `interruptAfter`). */
  readonly interrupts: readonly Interrupt[];
  /** The nodes that go on once it is answered. */
  readonly next: readonly string[];
}

/** What lets a paused run go on. At a breakpoint its being there is enough. */
export interface Answer {
  /** What `interrupt()` returns in the node. */
  readonly value?: unknown;
  /**
   * Which question it answers: the `id` of one of {@link Pause.interrupts}. An answer to a question that
   * the run does not wait at is not used. Needed where several are open. Up to LangGraph 1.4 at least, two
   * `interrupt()` calls in one node share an id.
   */
  readonly id?: string;
  /**
   * The pause that it answers: {@link Pause.id}. With it an answer is used once, however often and from
   * wherever it is sent; without it an answer that comes twice may be taken for one to the next question.
   */
  readonly pause?: string;
}

/**
 * What to invoke a paused graph with, or `undefined` when the answer is none to this pause.
 * @throws {InvalidOptionError} when the answer names no question and several are open.
 */
export function inputFor(pause: Pause, answer: Answer): { readonly input: unknown } | undefined {
  const { interrupts } = pause;
  if (answer.pause !== undefined && answer.pause !== pause.id) return undefined;
  const isAtBreakpoint = interrupts.length === 0;
  // A `Command` would stay in the thread, and answer the first question that a later node asks.
  if (isAtBreakpoint) return answer.id === undefined ? { input: null } : undefined;
  const ids = interrupts.map((interrupt) => interrupt.id);
  const [only, ...more] = ids;
  if (answer.id === undefined && more.length > 0)
    throw new InvalidOptionError(
      `resume must name one of the questions that are open (${ids.join(", ")}): give resume.id.`,
    );
  const id = answer.id ?? only;
  if (answer.id !== undefined && !ids.includes(answer.id)) return undefined;
  // By id, because LangGraph takes an object without keys for an empty map of answers.
  const resume = id === undefined ? answer.value : { [id]: answer.value };
  return { input: new Command({ resume }) };
}
