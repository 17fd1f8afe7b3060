import { createServer } from "node:net";

/**
 * Below what systems hand out for outgoing connections (from 32768 on Linux, 49152 elsewhere), so that
 * no connection takes the port of a server which is down for a moment.
 */
const lowest = 15_000;
const highest = 32_000;
const handedOut = new Set<number>();

/**
 * A port of 127.0.0.1 on which nobody listens, each one only once in this process. Another process can
 * still take it first: whoever listens on it tries again with the next.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (handedOut.has(port) || !(await isFree(port))) continue;
    handedOut.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1" }, () => server.close(() => resolve(true)));
  });
}
