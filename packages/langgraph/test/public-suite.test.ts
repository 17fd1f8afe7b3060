import { MemorySaver } from "@langchain/langgraph";
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { memoryCoordinator } from "@sole-writer/core/testing";
import { sharedPostgres } from "@sole-writer/testbed";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fenced, fencedPostgresSaver } from "../src/index.js";
import { writingUnderGrants } from "./support/under-grant.js";

// The suite looks for its runner's functions there.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

const coordinator = memoryCoordinator();

describe("LangGraph's own suite for savers", () => {
  validate({
    // The name by which the suite knows what this saver itself does not keep.
    checkpointerName: "MemorySaver",
    createCheckpointer: () => writingUnderGrants(fenced(new MemorySaver()), coordinator),
  });

  let pool: Pool;
  validate({
    checkpointerName: "fencedPostgresSaver with the guard for every thread",
    async createCheckpointer() {
      const database = await (await sharedPostgres()).createDatabase();
      pool = new Pool({ connectionString: database, max: 4 });
      const saver = fencedPostgresSaver(pool, { mode: "all" });
      await saver.setup();
      return writingUnderGrants(saver, coordinator);
    },
    destroyCheckpointer: () => pool.end(),
  });
});
