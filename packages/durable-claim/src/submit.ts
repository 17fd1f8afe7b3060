import {
  assertGraphName,
  BackendError,
  InvalidOptionError,
  type NewUnitOf,
  type SubmitOptions,
  type Submitted,
} from "@sole-writer/core";
import { inSchema, postgresFault } from "@sole-writer/postgres";
import { batcher } from "./batcher.js";
import { assertDate, assertKnown, assertWhole } from "./checks.js";
import type { Connection } from "./connection.js";
import type { ClaimHome } from "./home.js";
import { jsonOf } from "./payload.js";
import {
  type FoundRow,
  findByKey,
  notify,
  type SubmittedRow,
  submitUnits,
  submitUnitsInside,
} from "./sql/submit.js";
import { makeLanes } from "./sql/take.js";

const known = ["graph", "key", "payload", "runAt", "priority", "maxAttempts"];
const maxKeyLength = 200;
const mostInBatch = 100_000;
/** Submits that meet travel together up to this number; a batch of the caller's is never cut. */
const mostTogether = 200;
/** How often a key that was written and finished by somebody else meanwhile is submitted again. */
const mostRepeats = 5;

interface Row {
  readonly graph: string;
  readonly key: string | null;
  readonly payload: string;
  readonly runAt: string | null;
  readonly rank: number;
  readonly maxAttempts: number;
  readonly retryFirstMs: number;
  readonly retryMostMs: number;
  readonly keepMs: number;
}

/** Where units are stored: on a session of ours, or inside a transaction of the caller's. */
interface Run {
  submit(rows: readonly Row[]): Promise<readonly SubmittedRow[]>;
  find(rows: readonly Row[]): Promise<readonly FoundRow[]>;
}

/** Tells the replicas that wait. */
export interface Teller {
  readonly channel: string;
  /** True when this submit should carry the word itself; otherwise a later one does, and soon. */
  takesTurn(): boolean;
}

/** Stores units. */
export function submitter(
  home: ClaimHome,
  connection: Connection,
  teller: Teller,
  limitMs: number,
) {
  const together = batcher<readonly Row[], readonly Submitted[]>(mostTogether, async (batches) => {
    const answers = await store(batches.flat(), onOwnSession);
    let from = 0;
    return batches.map((batch) => {
      const own = answers.slice(from, from + batch.length);
      from += batch.length;
      return own;
    });
  });

  function checked(unit: NewUnitOf): Row {
    assertGraphName(unit.graph);
    assertKnown("A unit", unit, known);
    const { graph, key, runAt, priority = 0 } = unit;
    const policy = home.policyOf(graph);
    const { maxAttempts = policy.maxAttempts } = unit;
    if (key !== undefined) assertKey(key);
    if (runAt !== undefined) assertDate("runAt", runAt);
    assertWhole("priority", priority, -100, 100);
    assertWhole("maxAttempts", maxAttempts, 1, 1_000_000);
    return {
      graph,
      key: key ?? null,
      payload: jsonOf("payload", unit.payload, home.maxPayloadBytes),
      runAt: runAt?.toISOString() ?? null,
      rank: -priority,
      maxAttempts,
      retryFirstMs: policy.retryFirstMs,
      retryMostMs: policy.retryMostMs,
      keepMs: policy.keepDoneMs,
    };
  }

  function valuesOf(rows: readonly Row[], channel: string | null): unknown[] {
    return [
      home.app,
      rows.map((row) => row.graph),
      rows.map((row) => row.key),
      rows.map((row) => row.payload),
      rows.map((row) => row.runAt),
      rows.map((row) => row.rank),
      rows.map((row) => row.maxAttempts),
      rows.map((row) => row.retryFirstMs),
      rows.map((row) => row.retryMostMs),
      rows.map((row) => row.keepMs),
      channel,
    ];
  }

  /** Stores rows, and finds the units that have their keys already; `run` is where. */
  async function store(rows: readonly Row[], run: Run): Promise<readonly Submitted[]> {
    const answers: (Submitted | undefined)[] = rows.map(() => undefined);
    let open = rows.map((row, index) => ({ row, index }));
    for (let repeats = 0; open.length > 0; repeats += 1) {
      if (repeats > mostRepeats)
        throw new BackendError(
          "BACKEND_FAULT",
          `${whatOf(rows)}: its key is finished and submitted again by others faster than it can be looked up. Nothing was lost; submit it again.`,
        );
      const answered = await run.submit(open.map(({ row }) => row));
      const made = new Set(answered.flatMap(({ kind, id }) => (kind === "made" ? id : [])));
      const drawn = answered.flatMap(({ kind, id }) => (kind === "drawn" ? id : []));
      drawn.sort(byNumber);
      const double: typeof open = [];
      open.forEach((one, place) => {
        const id = drawn[place];
        if (id !== undefined && made.has(id))
          answers[one.index] = { id, graph: one.row.graph, isNew: true };
        else double.push(one);
      });
      const found = double.length > 0 ? await run.find(double.map(({ row }) => row)) : [];
      for (const { id, n } of found) {
        const one = double[n - 1];
        if (one) answers[one.index] = { id, graph: one.row.graph, isNew: false };
      }
      open = double.filter(({ index }) => answers[index] === undefined);
    }
    return answers.filter((answer) => answer !== undefined);
  }

  const onOwnSession: Run = {
    /** Not repeated when it was not answered: without a key it would be stored twice. */
    async submit(rows) {
      const channel = teller.takesTurn() ? teller.channel : null;
      const answer = await connection.tryRun<SubmittedRow>(submitUnits, valuesOf(rows, channel), {
        limitMs,
        what: whatOf(rows),
      });
      if (answer.kind === "rows") return answer.rows;
      if (answer.kind === "failed") throw answer.error;
      throw new BackendError(
        answer.error.code,
        `${answer.error.message} The units may be stored all the same: submit again with a key, which adds nothing twice.`,
        { cause: answer.error },
      );
    },
    find: (rows) =>
      connection.run<FoundRow>(findByKey, keyValues(rows), { limitMs, what: whatOf(rows) }),
  };

  const keyValues = (rows: readonly Row[]): unknown[] => [
    home.app,
    rows.map((row) => row.graph),
    rows.map((row) => row.key),
  ];

  function whatOf(rows: readonly Row[]): string {
    const graphs = new Set(rows.map((row) => row.graph));
    return home.what("submit to", graphs.size === 1 ? rows[0]?.graph : undefined);
  }

  async function inside(
    client: NonNullable<SubmitOptions["client"]>,
    rows: readonly Row[],
  ): Promise<readonly Submitted[]> {
    const what = whatOf(rows);
    await connection.run(makeLanes, [home.app, rows.map((row) => row.graph)], { limitMs, what });
    async function ask<Answer>(text: string, values: unknown[]): Promise<readonly Answer[]> {
      try {
        const answer = await client.query({ text: inSchema(text, home.schema), values });
        return answer.rows as readonly Answer[];
      } catch (error) {
        throw postgresFault(error, what);
      }
    }
    return store(rows, {
      submit: (open) => ask(submitUnitsInside.text, valuesOf(open, teller.channel)),
      find: (open) => ask(findByKey.text, keyValues(open)),
    });
  }

  return {
    /** @throws {InvalidOptionError} before anything is written */
    async submitMany(
      units: readonly NewUnitOf[],
      options: SubmitOptions = {},
    ): Promise<readonly Submitted[]> {
      if (units.length > mostInBatch)
        throw new InvalidOptionError(
          `submitMany takes at most ${mostInBatch} units at once, not ${units.length}.`,
        );
      const rows = units.map(checked);
      options.signal?.throwIfAborted();
      if (rows.length === 0) return [];
      return options.client ? inside(options.client, rows) : together.ask(rows);
    },
    /** Tells now, for the submits since the last word. */
    async tell(): Promise<void> {
      const what = home.what("tell of new units");
      await connection.tryRun(notify, [teller.channel], { limitMs, what });
    },
    rested: together.rested,
  };
}

function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function assertKey(key: unknown): void {
  if (
    typeof key === "string" &&
    key !== "" &&
    key.length <= maxKeyLength &&
    key.isWellFormed() &&
    !/\p{Cc}/u.test(key)
  )
    return;
  throw new InvalidOptionError(
    `key must be a string of 1 to ${maxKeyLength} characters without control characters.`,
  );
}
