import { tick } from "@sole-writer/core";
import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { skipLock } from "../src/index.js";

it("keeps its row in the schema that it is given", async () => {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  await using coordinator = skipLock({ app: "a", url, schema: "ours" });
  const outcome = await tick(coordinator, "g", async ({ fence }) => fence);
  expect(outcome).toMatchObject({ status: "ran" });
  const rows = await server.query(
    "select graph, to_regnamespace('sole_writer') as other from ours.graph",
    [],
    url,
  );
  expect(rows).toEqual([{ graph: "g", other: null }]);
  expect(await coordinator.inspect("g")).toMatchObject([{ graph: "g" }]);
  expect((await coordinator.preflight()).filter(({ severity }) => severity === "error")).toEqual(
    [],
  );
  expect(() => skipLock({ app: "a", url, schema: "Ours" })).toThrow(/schema must be/);
});
