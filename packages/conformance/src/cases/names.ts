import { maxGraphNameLength } from "@sole-writer/core";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { LawCase } from "./law-case.js";

/** Each breaks the one rule for names in its own way. */
const refusedNames: readonly string[] = [
  "",
  " ",
  "\t",
  "g ",
  " g",
  "\u00a0g",
  "cafe\u0301",
  "\ud800",
  "x\u0000y",
  "x\ny",
  "x\u007fy",
  "x".repeat(maxGraphNameLength + 1),
  "x".repeat(1_000_000),
];

/** All different, all allowed; many are patterns, prefixes or quotes to one backend or another. */
const oddNames: readonly string[] = [
  "a",
  "ab",
  "A",
  "a/b",
  "a/",
  "a:b",
  "a.b",
  "a b",
  "%",
  "_",
  "*",
  "?",
  "{x}",
  "x",
  "{a}b",
  "1",
  "1.0",
  "null",
  "'",
  '"',
  "\\",
  "$1",
  "--",
  "caf\u00e9",
  "cafe",
  "\u{1f4e6}",
  "\u30b0\u30e9\u30d5",
  "x".repeat(maxGraphNameLength - 1),
  `${"x".repeat(maxGraphNameLength - 1)}y`,
  "\u{1f4e6}".repeat(maxGraphNameLength),
];

export const namesCases: readonly LawCase[] = [
  {
    law: law.names,
    name: "a name that breaks the rule is refused before the backend is asked",
    async run(context) {
      const replica = await context.replica("a", { settings: await context.unreachable() });
      for (const name of refusedNames) {
        // The backend is down: had it been asked, that is what the error would say.
        const error = await replica.error(name);
        check(
          error.code === "INVALID_NAME",
          `${shown(name)} should be refused with INVALID_NAME, but: ${inWords(error)}`,
        );
        check(
          error.message.length < 1_000,
          `the message about ${shown(name)} is as long as the name`,
        );
      }
      const inspected = await replica.inspect("g ");
      check(
        "error" in inspected && inspected.error.code === "INVALID_NAME",
        `inspect should refuse "g " too: ${inWords(inspected)}`,
      );
    },
  },
  {
    law: law.names,
    name: "odd names that keep the rule are all different graphs, and come back as they were given",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = [];
      for (const name of oddNames) {
        const grant = await a.take(name);
        check(grant.graph === name, `the grant is on ${shown(grant.graph)}, not on ${shown(name)}`);
        held.push(grant);
      }
      for (const name of oddNames) {
        const refusal = await b.refused(name);
        check(
          refusal.keySharedWith === undefined,
          `${shown(name)} is said to share its key: ${inWords(refusal)}`,
        );
      }
      const seen = await b.inspect();
      const names = "statuses" in seen ? seen.statuses.map(({ graph }) => graph) : [];
      const missing = oddNames.filter((name) => !names.includes(name));
      check(missing.length === 0, `inspect does not show ${missing.map(shown).join(", ")}`);
      for (const grant of held) await grant.release();
    },
  },
];

function shown(name: string): string {
  return name.length > 40 ? `${JSON.stringify(name.slice(0, 40))} and so on` : JSON.stringify(name);
}
