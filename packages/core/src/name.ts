import { InvalidNameError, InvalidOptionError } from "./errors.js";
import { shown } from "./words.js";

/** Longest graph name, in characters (code points). */
export const maxGraphNameLength = 200;

/**
 * The one rule for graph names, the same in every strategy: not empty, at most 200 characters, in
 * Unicode NFC, no control characters, no unpaired surrogate, no leading or trailing white space.
 * Nothing is rewritten: two spellings of one name would otherwise escape each other's lock.
 * @throws {InvalidNameError} saying which part of the rule is broken.
 */
export function assertGraphName(graph: unknown): asserts graph is string {
  const broken = whatIsWrong(graph);
  if (broken) throw new InvalidNameError(`Graph name ${shown(graph)} ${broken}.`);
}

function whatIsWrong(graph: unknown): string | undefined {
  if (typeof graph !== "string") return "is not a string; pass a string";
  if (graph === "") return "is empty; give the graph a name";
  if (!graph.isWellFormed()) return "has an unpaired surrogate, which no backend can store";
  if (graph.length > 2 * maxGraphNameLength || [...graph].length > maxGraphNameLength)
    return `is longer than ${maxGraphNameLength} characters; shorten it`;
  if (/\p{Cc}/u.test(graph)) return "has a control character; remove it";
  if (graph !== graph.trim()) return "begins or ends with white space; trim it";
  if (graph !== graph.normalize("NFC"))
    return 'is not in Unicode NFC; pass name.normalize("NFC") so that every replica spells it alike';
  return undefined;
}

/**
 * Checks the name of an application by the rule for graphs: two spellings of one would escape each other.
 * @throws {InvalidOptionError} for a name that breaks it.
 */
export function assertAppName(app: unknown): asserts app is string {
  try {
    assertGraphName(app);
  } catch (cause) {
    const rule = cause instanceof Error ? cause.message.replace(/^Graph name/, "app") : "";
    throw new InvalidOptionError(rule, { cause });
  }
}
