/**
 * A replica: a process that runs the warehouse's graphs when it is told to. The director starts several
 * and speaks to each over its own channel. Without that channel it ends: it never outlives the demo.
 */
import type { Reply, Request } from "./protocol.js";
import { openReplica, type Replica } from "./replica.js";

let replica: Replica | undefined;

// Ctrl-C reaches the whole terminal; the director decides when its replicas end.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
process.on("message", (request: Request) => void obey(request));

async function obey(request: Request): Promise<void> {
  if (request.kind === "open") {
    replica = openReplica(request, tell);
    tell(replica.ready);
    return;
  }
  if (!replica) throw new Error(`"${request.kind}" came before "open".`);
  switch (request.kind) {
    case "tick": {
      const { id, graph, window, askAgainMs } = request;
      const answer = await replica.tick(graph, window, askAgainMs);
      tell({ kind: "answer", id, atNs: String(process.hrtime.bigint()), answer });
      return;
    }
    case "inspect": {
      const { id, graph } = request;
      tell({ kind: "status", id, state: await replica.inspect(graph) });
      return;
    }
    case "close":
      await replica.close();
      process.disconnect();
  }
}

function tell(reply: Reply): void {
  if (process.connected) process.send?.(reply, undefined, undefined, () => {});
}
