import { connect, type Socket } from "node:net";
import type { ProxyMode } from "./proxy.js";

/** One client's connection through the proxy, and the one that goes on to the server. */
export interface Link {
  /** Acts on a mode that has just changed. */
  follow(): void;
  /** RST to both sides. */
  reset(): void;
}

/** What becomes of bytes in one direction. */
type Fate = "pass" | "swallow" | "hold";

/** What a link has to know of its proxy, and to tell it. */
interface Surroundings {
  mode(): ProxyMode;
  onSwallowed(byteCount: number): void;
  /** Called once, when both sides are gone. */
  onClosed(): void;
}

/** Connects `client` to `target`. */
export function openLink(
  client: Socket,
  target: { readonly host: string; readonly port: number },
  { mode, onSwallowed, onClosed }: Surroundings,
): Link {
  const server = connect({ ...target, allowHalfOpen: true, noDelay: true });
  // A stream with a gap, or a side that left while the other must not learn of it.
  let isBroken = false;
  let open = 2;

  const fateOf = (from: Socket): Fate => {
    const now = mode();
    if (now === "hole" || (now === "noreply" && from === server)) return "swallow";
    return now === "hold" ? "hold" : "pass";
  };

  function pump(from: Socket, to: Socket): void {
    from.on("data", (bytes: Buffer) => {
      if (fateOf(from) === "swallow") {
        isBroken = true;
        onSwallowed(bytes.length);
      } else if (!to.write(bytes)) from.pause();
    });
    to.on("drain", () => {
      if (fateOf(from) !== "hold") from.resume();
    });
    from.on("end", () => {
      if (fateOf(from) === "swallow") isBroken = true;
      else to.end();
    });
    // The close that follows says the same.
    from.on("error", () => {});
    from.on("close", (hadError) => {
      open -= 1;
      if (open === 0) onClosed();
      if (fateOf(from) === "swallow") isBroken = true;
      else if (hadError) to.resetAndDestroy();
    });
  }

  function reset(): void {
    for (const socket of [client, server]) socket.resetAndDestroy();
  }

  function follow(): void {
    const now = mode();
    if (isBroken && (now === "pass" || now === "refuse")) {
      reset();
      return;
    }
    for (const socket of [client, server]) {
      if (fateOf(socket) === "hold") socket.pause();
      else socket.resume();
    }
  }

  pump(client, server);
  pump(server, client);
  if (mode() === "hold") follow();
  return { follow, reset };
}
