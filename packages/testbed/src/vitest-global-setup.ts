/**
 * For `globalSetup` in `vitest.config.ts`: one PostgreSQL for the whole run, started when the first test
 * file calls `sharedPostgres()`, ended after the last. A run that never asks does not pay for it.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { guardWhatIStart } from "./guard/guard.js";
import { givenServer } from "./postgres/given-server.js";
import type { Database } from "./postgres/server.js";
import { type BrokerAnswer, brokerVariable } from "./postgres/shared-postgres.js";
import { startPostgres } from "./postgres/start-postgres.js";

/** Called by Vitest before the first test file; resolves with what it calls after the last. */
export async function setup(): Promise<() => Promise<void>> {
  // Before the workers start: they have to end when this run is killed.
  guardWhatIStart();
  const prefix = `sole_writer_${randomUUID().slice(0, 8)}_`;
  let started: Promise<Database> | undefined;

  const broker = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    started ??= start(prefix);
    started.then(
      (database) => reply({ url: database.url(), prefix }),
      (error: Error) => reply({ problem: error.message }),
    );
    const reply = (answer: BrokerAnswer) => socket.end(JSON.stringify(answer));
  });
  broker.listen(0, "127.0.0.1");
  await once(broker, "listening");
  process.env[brokerVariable] = String((broker.address() as AddressInfo).port);

  return async () => {
    delete process.env[brokerVariable];
    broker.close();
    await started?.then(
      (database) => database.stop(),
      () => undefined,
    );
  };
}

function start(prefix: string): Promise<Database> {
  const given = process.env.DATABASE_URL;
  return given ? givenServer(given, prefix) : startPostgres();
}
