import { acquireTimeoutMs, answerWithinMs, slackMs } from "../bounds.js";
import { check, inWords } from "../check.js";
import { law } from "../laws.js";
import type { PlainError } from "../replica/plain.js";
import type { LawCase } from "./law-case.js";

function checkBackendError(error: PlainError, codes?: readonly string[]): void {
  check(
    error.isBackendError && (codes === undefined || codes.includes(error.code ?? "")),
    `it should have thrown a BackendError${codes ? ` (${codes.join(" or ")})` : ""}, but threw ${inWords(error)}`,
  );
}

export const busyIsNotBrokenCases: readonly LawCase[] = [
  {
    law: law.busyIsNotBroken,
    name: "a backend that is down is an error with a code, never a refusal and never a grant",
    async run(context) {
      const replica = await context.replica("a", { settings: await context.unreachable() });
      const error = await replica.error(context.graph, {
        withinMs: acquireTimeoutMs + slackMs,
      });
      checkBackendError(error);
      const ended = await replica.tick(context.graph, { hold: 0 }).report;
      check(ended.kind === "error", `the tick should have thrown: ${inWords(ended)}`);
      checkBackendError(ended.error);
      check(context.runs().length === 0, "the work ran though the backend is down");
    },
  },
  {
    law: law.busyIsNotBroken,
    name: "a backend that never answers is an error within the limit of the acquire",
    async run(context) {
      const limitMs = 1_000;
      const replica = await context.replica("a", {
        settings: await context.silent(),
        acquireTimeoutMs: limitMs,
      });
      const error = await replica.error(context.graph, { withinMs: limitMs + slackMs });
      checkBackendError(error);
    },
  },
  {
    law: law.busyIsNotBroken,
    name: "credentials that the backend does not accept are an error that says so",
    async run(context) {
      const value = context.fault("wrongCredentials");
      const replica = await context.replica("a", { settings: { value } });
      checkBackendError(await replica.error(context.graph), ["BACKEND_AUTH"]);
    },
  },
  {
    law: law.busyIsNotBroken,
    name: "when the backend is back, the same coordinator is answered again",
    async run(context) {
      const wire = await context.wire();
      const replica = await context.replica("a", { settings: wire.settings });
      await (await replica.take(context.graph)).release();
      await wire.shut();
      const error = await replica.error(context.graph, { withinMs: acquireTimeoutMs + slackMs });
      checkBackendError(error);
      await wire.reopen();
      const until = performance.now() + answerWithinMs;
      for (;;) {
        const { answer, held } = await replica.ask(context.graph, {
          withinMs: acquireTimeoutMs + slackMs,
        });
        if (held) return held.release();
        check(
          answer.kind === "error" && performance.now() < until,
          `the backend is back, and the answer is still: ${inWords(answer)}`,
        );
      }
    },
  },
  {
    law: law.busyIsNotBroken,
    name: "preflight finds nothing wrong with a good backend, also while a graph is held",
    async run(context) {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const held = await a.take(context.graph);
      for (const replica of [a, b]) {
        const found = await replica.preflight();
        check(
          "findings" in found && found.findings.every(({ severity }) => severity !== "error"),
          `preflight should have found nothing wrong: ${inWords(found)}`,
        );
      }
      await held.release();
    },
  },
  {
    law: law.busyIsNotBroken,
    name: "preflight and inspect do not call a backend well that is down",
    async run(context) {
      const replica = await context.replica("a", { settings: await context.unreachable() });
      const seen = await replica.inspect();
      check("error" in seen, `inspect answered for a backend that is down: ${inWords(seen)}`);
      checkBackendError(seen.error);
      const proven = await replica.preflight();
      // In one process there is nobody to be kept apart from by a backend, so there is nothing to prove.
      if (context.guarantees.scope === "process" && "findings" in proven) return;
      check(
        "error" in proven || proven.findings.some(({ severity }) => severity === "error"),
        `preflight found nothing wrong with a backend that is down: ${inWords(proven)}`,
      );
    },
  },
];
