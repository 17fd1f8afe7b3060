import type { DurableCoordinator, Grant } from "@sole-writer/core";
import { sharedPostgres } from "@sole-writer/testbed";
import { afterAll, expect } from "vitest";
import { type ClaimSettings, durableClaim } from "../../src/index.js";

/** A database of its own, and coordinators on it that are closed after the file. */
export async function openDatabase() {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  const opened: DurableCoordinator[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((coordinator) => coordinator.close({ graceMs: 0 })));
    await server.stop();
  });
  return {
    server,
    url,
    query: <Row = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
      server.query<Row>(sql, values, url),
    open(options: Partial<ClaimSettings> & { readonly url?: string } = {}): DurableCoordinator {
      const coordinator = durableClaim({ app: "test", url, retryFirstMs: 100, ...options });
      opened.push(coordinator);
      return coordinator;
    },
  };
}

export const done = { kind: "done" } as const;

/** The one grant that is due. */
export async function claimOne(coordinator: DurableCoordinator): Promise<Grant> {
  const [grant, ...more] = await coordinator.claim({ limit: 5 });
  if (!grant) throw new Error("nothing was due");
  expect(more).toEqual([]);
  return grant;
}

/** The unit, as the backlog shows it. */
export async function unitOf(coordinator: DurableCoordinator, id: string) {
  const { units } = await coordinator.units({ id });
  return units[0];
}
