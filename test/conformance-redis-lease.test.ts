import { describeCoordinator } from "@sole-writer/conformance";
import { startRedis } from "@sole-writer/testbed";
import { afterAll } from "vitest";
import { redisLeaseFactory } from "./src/factories/redis-lease.js";
import { suiteOptions } from "./src/rounds.js";

// A server of its own, because the suite restarts it.
const server = await startRedis();
afterAll(() => server.stop());

describeCoordinator("external-lease on redis", redisLeaseFactory(server), suiteOptions());
