import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { createInterface } from "node:readline";

/**
 * Runs inside a network namespace of its own. Reads "own-address target-address target-port" from its
 * input, forwards from a free port of its own to the target, says which, and ends with its input.
 */
const lines = createInterface({ input: process.stdin });
const [line] = await once(lines, "line");
const [own, host, port] = String(line).split(" ");
const server = createServer((near) => {
  const far = connect(Number(port), host);
  near.pipe(far).pipe(near);
  for (const socket of [near, far]) socket.on("error", () => undefined);
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
});
server.listen(0, own);
await once(server, "listening");
process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
lines.on("close", () => process.exit(0));
