import { createServer, type Server, Socket } from "node:net";
import { LawBroken } from "../check.js";

/**
 * What the wire does: `pass` hands everything on; `hole` swallows both ways and keeps sockets open;
 * `no-reply` hands requests on and swallows the replies.
 */
export type WireMode = "pass" | "hole" | "no-reply";

/** A TCP connection to the backend that the suite can break. */
export interface Wire {
  readonly port: number;
  /**
   * For every connection there is, and for new ones. One that has been through a `hole` or a `no-reply`
   * may have lost bytes, so a later `pass` does not heal it.
   */
  set(mode: WireMode): void;
  /** Resets every connection. New ones may come. */
  cut(): void;
  /** Resets every connection and refuses new ones. */
  shut(): Promise<void>;
  /** Listens again on the same port, in mode `pass`. */
  reopen(): Promise<void>;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  worst: WireMode;
}

const severity = { pass: 0, "no-reply": 1, hole: 2 } as const satisfies Record<WireMode, number>;

/** Stands on a free port of 127.0.0.1 between a coordinator and its backend. */
export async function openWire(target: { host: string; port: number }): Promise<Wire> {
  const links = new Set<Link>();
  let mode: WireMode = "pass";
  let server = await listen(0);
  const { port } = addressOf(server);

  function listen(onPort: number): Promise<Server> {
    return new Promise((resolve, reject) => {
      const made = createServer({ allowHalfOpen: true }, join);
      made.once("error", reject);
      made.listen(onPort, "127.0.0.1", () => resolve(made));
    });
  }

  function join(near: Socket): void {
    const far = new Socket({ allowHalfOpen: true });
    far.connect(target.port, target.host);
    const link: Link = { near, far, worst: mode };
    links.add(link);
    carry(near, far, link, () => link.worst === "hole");
    carry(far, near, link, () => link.worst !== "pass");
  }

  function carry(from: Socket, to: Socket, link: Link, swallows: () => boolean): void {
    from.setNoDelay(true);
    from.on("data", (bytes) => !swallows() && to.write(bytes));
    from.on("end", () => link.worst !== "hole" && to.end());
    from.on("error", () => undefined);
    from.on("close", () => {
      // The far side of a hole never learns that this side is gone.
      if (link.worst !== "hole") to.destroy();
      if (link.near.destroyed && link.far.destroyed) links.delete(link);
    });
  }

  function cut(): void {
    for (const { near, far } of links) for (const socket of [near, far]) socket.resetAndDestroy();
    links.clear();
  }

  return {
    port,
    set(next) {
      mode = next;
      for (const link of links) if (severity[next] > severity[link.worst]) link.worst = next;
    },
    cut,
    async shut() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
    async reopen() {
      mode = "pass";
      server = await listen(port);
    },
  };
}

function addressOf(server: Server): { port: number } {
  const address = server.address();
  if (address === null || typeof address === "string") throw new LawBroken("the wire has no port");
  return address;
}
