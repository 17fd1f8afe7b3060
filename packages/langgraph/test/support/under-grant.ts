import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { Coordinator } from "@sole-writer/core";
import { withGrant } from "../../src/index.js";
import { isWriter, saverOver } from "../../src/saver-proxy.js";
import { grantOf } from "./replicas.js";

/**
 * A saver for suites that know nothing of grants: it acquires, writes and settles for each write, so that
 * every one goes through the fence, and with a fence of its own.
 */
export function writingUnderGrants<S extends BaseCheckpointSaver>(
  saver: S,
  coordinator: Coordinator,
): S {
  let last: Promise<unknown> = Promise.resolve();
  return saverOver(saver, (name, call) => {
    if (!isWriter(name)) return undefined;
    return (...args: unknown[]) => {
      const write = last.then(async () => {
        const grant = await grantOf(coordinator, "suite");
        try {
          return await withGrant(grant, async () => await call(...args));
        } finally {
          await grant.settle({ kind: "done" });
        }
      });
      last = write.catch(() => undefined);
      return write;
    };
  });
}
