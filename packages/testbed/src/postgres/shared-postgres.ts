import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { givenServer } from "./given-server.js";
import type { Database } from "./server.js";
import { startPostgres } from "./start-postgres.js";

/** Where the test run's own server is asked for: a port of 127.0.0.1. Set by the Vitest set-up. */
export const brokerVariable = "SOLE_WRITER_TESTBED_BROKER";

/** The broker's answer. */
export type BrokerAnswer =
  | { readonly url: string; readonly prefix: string }
  | { readonly problem: string };

let shared: Promise<Database> | undefined;

/**
 * The server that tests share: the one in DATABASE_URL when that is set, else one that the test run
 * starts at the first call (from SOLE_WRITER_POSTGRES_BIN, else from npm). Outside a test run it belongs
 * to this process. Take a database of your own with `createDatabase`; the run drops it. Break nothing
 * here: `startPostgres` gives a server to break.
 */
export function sharedPostgres(): Promise<Database> {
  shared ??= open().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

async function open(): Promise<Database> {
  const broker = process.env[brokerVariable];
  if (broker !== undefined && broker !== "") return askBroker(Number(broker));
  const given = process.env.DATABASE_URL;
  const database = given ? await givenServer(given) : await startPostgres();
  return { ...database, stop, [Symbol.asyncDispose]: stop };

  async function stop(): Promise<void> {
    shared = undefined;
    await database.stop();
  }
}

async function askBroker(port: number): Promise<Database> {
  const answer = JSON.parse(await text(connect(port, "127.0.0.1"))) as BrokerAnswer;
  if ("problem" in answer) throw new Error(answer.problem);
  const database = await givenServer(answer.url, answer.prefix);
  // The run ends it, when the last test file has ended.
  const leaveIt = async () => {};
  return { ...database, stop: leaveIt, [Symbol.asyncDispose]: leaveIt };
}
