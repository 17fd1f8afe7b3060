import { systemClock } from "@sole-writer/core";
import { memoryCoordinator, memoryStore } from "@sole-writer/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { cases, type LawCase, law, openSuite, type Suite } from "../src/cases.js";
import { check } from "../src/check.js";
import type { CoordinatorFactory } from "../src/index.js";

/** The least that a factory can give. */
function bare(changes: Partial<CoordinatorFactory> = {}): CoordinatorFactory {
  const store = memoryStore(systemClock());
  return {
    open: ({ app, label, onEvent }) => memoryCoordinator({ app, label, onEvent, store }),
    ...changes,
  };
}

/** A case that is not of the suite, for what the suite does with every case. */
const doing = (run: LawCase["run"]): LawCase => ({ law: law.exclusion, name: "a case", run });

describe("the suite", () => {
  let suite: Suite | undefined;
  afterEach(() => suite?.close());
  const judge = async (lawCase: LawCase, factory = bare()) => {
    await suite?.close();
    suite = await openSuite(factory);
    return suite.judge(lawCase);
  };

  it("has no two cases of one name, and no case that is no sentence", () => {
    const names = cases.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z].* .*[^.]$/i);
  });

  it("says which hook a case wants, in place of passing it", async () => {
    const verdict = await judge(doing(async ({ fault }) => void fault("restartBackend")));
    expect(verdict).toEqual({ kind: "not-run", wants: "faults.restartBackend" });
  });

  it("does not let a backend go without the hooks that its scope demands", async () => {
    const good = memoryCoordinator();
    const ofBackend = { ...good, guarantees: { ...good.guarantees, scope: "backend" as const } };
    const factory = bare({ open: () => ofBackend });
    for (const run of [
      doing(async ({ fault }) => void fault("takeAway")),
      doing(async ({ unreachable }) => void (await unreachable())),
      doing(async ({ wire }) => void (await wire())),
    ]) {
      const verdict = await judge(run, factory);
      expect(verdict).toMatchObject({ kind: "broken", error: { name: "LawBroken" } });
    }
  });

  it("finds an overlap in a case that was about something else", async () => {
    // Each coordinator has a store of its own, so nobody is kept out.
    const factory = bare({ open: ({ app, label }) => memoryCoordinator({ app, label }) });
    const overlapping = doing(async (context) => {
      const [a, b] = await context.replicas("a", "b");
      check(a && b, "two replicas");
      const one = await a.take(context.graph);
      const two = await b.take(context.graph);
      await one.release();
      await two.release();
    });
    const verdict = await judge(overlapping, factory);
    expect(verdict.kind).toBe("broken");
    if (verdict.kind === "broken")
      expect(verdict.error.message).toMatch(/two runs of "price_feed" at one time/);
  });

  it("takes what the coordinator throws when it is opened for a broken law, and goes on", async () => {
    let opened = 0;
    const factory = bare({
      open: (options) => {
        opened += 1;
        if (opened === 2) throw new Error("no connection string");
        return memoryCoordinator({ app: options.app });
      },
    });
    const opens = doing(async (context) => void (await context.replica("a")));
    expect(await judge(opens, factory)).toMatchObject({
      kind: "broken",
      error: { message: expect.stringContaining("no connection string") },
    });
    expect(await suite?.judge(opens)).toEqual({ kind: "kept" });
  });

  it("ends a case that never ends", async () => {
    suite = await openSuite(bare(), { caseTimeoutMs: 50 });
    const verdict = await suite.judge(doing(() => new Promise(() => undefined)));
    expect(verdict).toMatchObject({ kind: "broken", error: { name: "TooLate" } });
  });

  it("wants a way to open a coordinator", async () => {
    await expect(openSuite({})).rejects.toThrow('"open", or "module"');
  });
});
