import { describeCoordinator } from "@sole-writer/conformance";
import { startPostgres } from "@sole-writer/testbed";
import { afterAll } from "vitest";
import { durableClaimFactory } from "./src/factories/durable-claim.js";
import { suiteOptions } from "./src/rounds.js";

// A server of its own, because the suite restarts it.
const server = await startPostgres();
afterAll(() => server.stop());

describeCoordinator(
  "durable-claim on postgres",
  durableClaimFactory(server, await server.createDatabase()),
  suiteOptions(),
);
