import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { freePort } from "./free-port.js";
import { type Link, openLink } from "./link.js";

/**
 * What happens to the bytes of every connection:
 * - `pass`: nothing special.
 * - `hole`: both directions are swallowed, the sockets stay open, also when one side leaves.
 * - `noreply`: requests reach the server, its replies are swallowed.
 * - `hold`: both directions stand still; everything arrives late, when it passes again.
 * - `refuse`: new connections are refused; the ones there are pass.
 */
export type ProxyMode = "pass" | "hole" | "noreply" | "hold" | "refuse";

/** A TCP proxy in front of a server, for faults on the way. */
export interface Proxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Connections through it that are open on one side at least. */
  readonly connections: number;
  /** Bytes lost in `hole` and `noreply` so far: tells when a request has arrived in the hole. */
  readonly swallowedBytes: number;
  /**
   * Takes effect at once for bytes not yet read; resolves when new connections see it too. Back in
   * `pass`, a connection that lost bytes is reset: TCP never delivers a stream with a gap.
   */
  set(mode: ProxyMode): Promise<void>;
  /** Resets (RST) every connection now; new ones are as the mode says. */
  cut(): void;
  stop(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1 and passes connections on to `target`. */
export async function startProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<Proxy> {
  const links = new Set<Link>();
  let mode: ProxyMode = "pass";
  let swallowedBytes = 0;
  let port = await freePort();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);

  function accept(client: Socket): void {
    const link = openLink(client, target, {
      mode: () => mode,
      onSwallowed: (count) => {
        swallowedBytes += count;
      },
      onClosed: () => links.delete(link),
    });
    links.add(link);
  }

  async function listen(): Promise<void> {
    for (let triesLeft = 5; ; triesLeft -= 1) {
      server.listen({ port, host: "127.0.0.1" });
      try {
        await once(server, "listening");
        return;
      } catch (error) {
        if (triesLeft === 0) throw error;
        port = await freePort();
      }
    }
  }

  async function set(next: ProxyMode): Promise<void> {
    mode = next;
    for (const link of [...links]) link.follow();
    if (next === "refuse" && server.listening) server.close();
    if (next !== "refuse" && !server.listening) {
      server.listen({ port, host: "127.0.0.1" });
      await once(server, "listening");
    }
  }

  function cut(): void {
    for (const link of [...links]) link.reset();
  }

  async function stop(): Promise<void> {
    if (server.listening) server.close();
    cut();
  }

  await listen();
  return {
    host: "127.0.0.1",
    port,
    get connections() {
      return links.size;
    },
    get swallowedBytes() {
      return swallowedBytes;
    },
    set,
    cut,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
