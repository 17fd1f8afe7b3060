import type { LawNumber } from "../laws.js";
import type { CaseContext } from "../suite/context.js";

/** One case: the law it holds a coordinator to, and a sentence that is its name. */
export interface LawCase {
  readonly law: LawNumber;
  readonly name: string;
  /** Returns when the law was kept. Throws what should have been and what was seen. */
  run(context: CaseContext): Promise<void>;
}
