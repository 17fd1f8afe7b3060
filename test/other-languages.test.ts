import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Coordinator } from "@sole-writer/core";
import { lockKey, lockSpaceOf, skipLock } from "@sole-writer/skip-lock";
import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { cannotRun } from "./src/languages/cannot-run.js";
import { type LineProgram, lineProgram } from "./src/languages/line-program.js";

/** A program that can try the lock of the graph and let go of it. */
interface Neighbour extends AsyncDisposable {
  tryLock(): Promise<"taken" | "held">;
  release(): Promise<string>;
  kill(): Promise<void>;
}

interface Language {
  readonly name: string;
  /** How a refusal shows it. */
  readonly shownAs: string;
  /** Why it cannot run here, or undefined. */
  missing(): Promise<string | undefined>;
  open(url: string, app: string, graph: string): Promise<Neighbour>;
}

const besideTheServer = join(process.env.SOLE_WRITER_POSTGRES_BIN ?? "", "psql");
const psql = isAbsolute(besideTheServer) && existsSync(besideTheServer) ? besideTheServer : "psql";
// The system's own, because that is the one for which systems package psycopg.
const python = "/usr/bin/python3";
const script = fileURLToPath(new URL("./src/languages/holds-a-lock.py", import.meta.url));

const languages: readonly Language[] = [
  {
    name: "SQL in psql",
    shownAs: "psql",
    missing: () => cannotRun(psql, ["--version"], "install the PostgreSQL client"),
    async open(url, app, graph) {
      const key = lockKey("pair", lockSpaceOf(app), graph).text;
      const program = lineProgram(psql, ["-XAtq", "-v", "ON_ERROR_STOP=1", url]);
      return {
        ...endsOf(program),
        tryLock: async () => {
          const answer = await program.ask(`select pg_try_advisory_lock${key};`);
          return answer === "t" ? "taken" : "held";
        },
        release: () => program.ask(`select pg_advisory_unlock${key};`),
      };
    },
  },
  {
    name: "Python with psycopg",
    shownAs: "report.py",
    missing: () => cannotRun(python, ["-c", "import psycopg"], "install python3-psycopg"),
    async open(url, app, graph) {
      const program = lineProgram(python, [script, url, app, graph]);
      // It has its key from its own CRC-32.
      const { lockArguments } = lockKey("pair", lockSpaceOf(app), graph);
      expect(await program.nextLine()).toBe(`ready ${lockArguments.join(" ")}`);
      return {
        ...endsOf(program),
        tryLock: async () => ((await program.ask("try")) === "taken" ? "taken" : "held"),
        release: () => program.ask("release"),
      };
    },
  },
];

function endsOf(program: LineProgram) {
  return { kill: program.kill, [Symbol.asyncDispose]: program[Symbol.asyncDispose] };
}

async function ask(coordinator: Coordinator, graph: string) {
  const answer = await coordinator.acquire(graph);
  if (answer.granted) await answer.settle({ kind: "done" });
  return answer;
}

it.for(languages)("keeps $name and us apart, both ways", async (language, { skip }) => {
  const missing = await language.missing();
  if (missing !== undefined) skip(missing);
  const url = await (await sharedPostgres()).createDatabase();
  const [app, graph] = [`app-${randomUUID()}`, "Prüfung/42"];
  await using coordinator = skipLock({ app, url });
  await using neighbour = await language.open(url, app, graph);

  // It holds: we are refused, and told by whom.
  expect(await neighbour.tryLock()).toBe("taken");
  const refusal = await ask(coordinator, graph);
  expect(refusal).toMatchObject({
    granted: false,
    reason: "held",
    holder: { label: expect.stringContaining(language.shownAs) },
  });
  expect((await ask(coordinator, "another")).granted).toBe(true);
  await neighbour.release();

  // We hold: it is refused, until we have settled.
  const grant = await coordinator.acquire(graph);
  if (!grant.granted) throw new Error(grant.message);
  expect(await neighbour.tryLock()).toBe("held");
  await grant.settle({ kind: "done" });
  expect(await neighbour.tryLock()).toBe("taken");

  // It is killed while it holds: the server frees the lock when it sees the connection close.
  expect((await ask(coordinator, graph)).granted).toBe(false);
  await neighbour.kill();
  await expect
    .poll(async () => (await ask(coordinator, graph)).granted, { timeout: 5_000 })
    .toBe(true);
});
