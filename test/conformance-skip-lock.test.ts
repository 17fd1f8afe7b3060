import { describeCoordinator } from "@sole-writer/conformance";
import { startPostgres } from "@sole-writer/testbed";
import { afterAll } from "vitest";
import { skipLockFactory } from "./src/factories/skip-lock.js";
import { suiteOptions } from "./src/rounds.js";

// A server of its own, because the suite restarts it.
const server = await startPostgres();
afterAll(() => server.stop());

describeCoordinator(
  "skip-lock on postgres",
  skipLockFactory(server, await server.createDatabase()),
  suiteOptions(),
);
