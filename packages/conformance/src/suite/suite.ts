import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Guarantees } from "@sole-writer/core";
import { acquireTimeoutMs } from "../bounds.js";
import type { LawCase } from "../cases/law-case.js";
import { LawBroken, NotRun } from "../check.js";
import type { CoordinatorFactory, Open } from "../factory.js";
import { defaultOptions, type SuiteOptions } from "../options.js";
import { within } from "../promises.js";
import { type Links, openLinks } from "./links.js";
import { openStage } from "./stage.js";

/** How a coordinator did in one case. */
export type Verdict =
  | { readonly kind: "kept" }
  /** `error` says what should have been and what was seen. */
  | { readonly kind: "broken"; readonly error: Error }
  /** The factory lacks this hook: a path from the factory, as `faults.takeAway`. */
  | { readonly kind: "not-run"; readonly wants: string };

/** Judges one coordinator, case by case. One case at a time. */
export interface Suite {
  readonly guarantees: Guarantees;
  /** Runs one case. Never rejects: everything that goes wrong is the coordinator's. */
  judge(lawCase: LawCase): Promise<Verdict>;
  /** Ends every process that the suite started. */
  close(): Promise<void>;
}

/** What every case stands on. */
export interface Ground {
  readonly factory: CoordinatorFactory;
  readonly links: Links;
  readonly guarantees: Guarantees;
  readonly options: Required<SuiteOptions>;
  /** The oracle's file, empty. */
  readonly oracle: string;
}

/**
 * Opens the suite over a factory. Reads the guarantees of one coordinator, without asking its backend.
 * @throws {Error} when the factory gives neither `open` nor a `module` that exports it.
 */
export async function openSuite<Settings>(
  given: CoordinatorFactory<Settings>,
  options: SuiteOptions = {},
): Promise<Suite> {
  const factory: CoordinatorFactory = withModuleUrl(given);
  const open = await openOf(factory);
  const guarantees = await guaranteesOf(open, factory.settings);
  const links = openLinks(factory, open);
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const chosen = { ...defaultOptions, ...options };
  let count = 0;

  return {
    guarantees,
    async judge(lawCase) {
      count += 1;
      const oracle = join(folder, `oracle-${count}.jsonl`);
      writeFileSync(oracle, "");
      const stage = openStage({ factory, links, guarantees, options: chosen, oracle });
      const what = `the case "${lawCase.name}" ended`;
      const broke = await thrownBy(() =>
        within(chosen.caseTimeoutMs, what, lawCase.run(stage.context)),
      );
      let oddities: readonly string[] = [];
      const brokeAfter = await thrownBy(async () => {
        oddities = await stage.close();
      });
      return verdictOf([broke, brokeAfter], oddities);
    },
    async close() {
      await links.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function verdictOf(thrown: readonly (Error | undefined)[], oddities: readonly string[]): Verdict {
  const [error] = thrown.filter((one) => one !== undefined);
  if (error instanceof NotRun) return { kind: "not-run", wants: error.wants };
  const also = oddities.length === 0 ? "" : `\nAlso seen:\n- ${oddities.join("\n- ")}`;
  if (error) {
    error.message += also;
    return { kind: "broken", error };
  }
  if (oddities.length === 0) return { kind: "kept" };
  return {
    kind: "broken",
    error: new LawBroken(`Seen beside the case:\n- ${oddities.join("\n- ")}`),
  };
}

async function thrownBy(action: () => Promise<void>): Promise<Error | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function withModuleUrl(factory: CoordinatorFactory): CoordinatorFactory {
  const { module } = factory;
  if (typeof module !== "string" || !isAbsolute(module)) return factory;
  return { ...factory, module: pathToFileURL(module) };
}

async function openOf(factory: CoordinatorFactory): Promise<Open> {
  if (factory.open) return factory.open.bind(factory);
  if (factory.module === undefined)
    throw new Error('Give the factory "open", or "module", or both.');
  const loaded: { readonly open?: Open } = await import(String(factory.module));
  if (typeof loaded.open !== "function")
    throw new Error(`${factory.module} exports no function "open".`);
  return loaded.open;
}

async function guaranteesOf(open: Open, settings: unknown): Promise<Guarantees> {
  const coordinator = await open({
    app: "conformance",
    label: "guarantees",
    acquireTimeoutMs,
    onEvent: () => undefined,
    settings,
  });
  const { guarantees } = coordinator;
  await coordinator.close();
  return guarantees;
}
