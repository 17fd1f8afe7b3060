import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { type Proxy as FaultProxy, freePort, startProxy } from "@sole-writer/testbed";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

/** Everything here happens within this process; only a machine that is busy otherwise takes long. */
const soon = { timeout: 10_000, interval: 5 };

let server: Server;
let sessions: Socket[];
let received: string[];
let clients: Socket[];
let proxy: FaultProxy;

beforeEach(async () => {
  sessions = [];
  clients = [];
  received = [];
  server = createServer({ allowHalfOpen: true }, (session) => {
    sessions.push(session);
    session.on("error", () => {});
    session.on("data", (bytes) => {
      received.push(bytes.toString());
      session.write(`got ${bytes}`);
    });
    session.on("end", () => session.end("bye"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startProxy({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
});

afterEach(async () => {
  await proxy.stop();
  for (const socket of [...sessions, ...clients]) socket.destroy();
  server.close();
});

async function openClient(): Promise<Socket> {
  const client = connect({ host: proxy.host, port: proxy.port, allowHalfOpen: true });
  clients.push(client);
  // The stop of the proxy resets it.
  client.on("error", () => {});
  await once(client, "connect");
  return client;
}

/** Sends `text` and resolves with what comes back. */
async function ask(client: Socket, text: string): Promise<string> {
  client.write(text);
  const [answer] = await once(client, "data");
  return String(answer);
}

/** Resolves with the error's code that ends `client`. */
async function ending(client: Socket): Promise<string> {
  const [error] = (await once(client, "error")) as [NodeJS.ErrnoException];
  return error.code ?? "";
}

it("passes bytes both ways, and the end of one direction only", async () => {
  const client = await openClient();
  expect(await ask(client, "hello")).toBe("got hello");
  client.end();
  expect(String((await once(client, "data"))[0])).toBe("bye");
  await once(client, "close");
  await vi.waitFor(() => expect(proxy.connections).toBe(0), soon);
});

it("swallows both directions in a hole, also the news that a client left", async () => {
  const [leaves, stays] = [await openClient(), await openClient()];
  await ask(leaves, "before");
  await ask(stays, "before");
  await proxy.set("hole");
  leaves.write("lost");
  sessions[1]?.write("lost too");
  await vi.waitFor(() => expect(proxy.swallowedBytes).toBe(12), soon);
  leaves.destroy();
  await once(leaves, "close");
  expect(received).toEqual(["before", "before"]);
  expect(sessions.map((session) => session.closed)).toEqual([false, false]);
  expect(proxy.connections).toBe(2);
});

it("resets what lost bytes when it passes again, and nothing else", async () => {
  const [lossy, quiet] = [await openClient(), await openClient()];
  await ask(lossy, "a");
  await ask(quiet, "b");
  await proxy.set("hole");
  lossy.write("lost");
  await vi.waitFor(() => expect(proxy.swallowedBytes).toBe(4), soon);
  const reset = ending(lossy);
  await proxy.set("pass");
  expect(await reset).toBe("ECONNRESET");
  expect(await ask(quiet, "c")).toBe("got c");
  expect(await ask(await openClient(), "d")).toBe("got d");
});

it("lets requests through and drops the replies in noreply", async () => {
  const client = await openClient();
  await proxy.set("noreply");
  client.write("heard");
  await vi.waitFor(() => expect(proxy.swallowedBytes).toBe("got heard".length), soon);
  expect(received).toEqual(["heard"]);
  expect(client.bytesRead).toBe(0);
});

it("delivers late what it held, in order, and then that the client left", async () => {
  const client = await openClient();
  await ask(client, "before");
  await proxy.set("hold");
  client.write("late");
  client.end();
  const direct = connect((server.address() as AddressInfo).port, "127.0.0.1");
  // Round trips past the proxy, each longer than the way of four bytes through it would be.
  for (let round = 0; round < 20; round += 1) await ask(direct, "direct");
  direct.destroy();
  expect(received).not.toContain("late");
  await proxy.set("pass");
  expect(String((await once(client, "data"))[0])).toContain("got late");
  await once(client, "end");
  expect(received.at(-1)).toBe("late");
});

it("refuses new connections and keeps the old ones in refuse", async () => {
  const old = await openClient();
  await ask(old, "before");
  await proxy.set("refuse");
  expect(await ending(connect({ host: proxy.host, port: proxy.port }))).toBe("ECONNREFUSED");
  expect(await ask(old, "still")).toBe("got still");
  await proxy.set("pass");
  expect(await ask(await openClient(), "again")).toBe("got again");
});

it("resets everything at once with cut, on both sides", async () => {
  const client = await openClient();
  await ask(client, "before");
  const reset = ending(client);
  proxy.cut();
  expect(await reset).toBe("ECONNRESET");
  await vi.waitFor(() => expect(sessions[0]?.closed).toBe(true), soon);
  expect(await ask(await openClient(), "new")).toBe("got new");
});

it("resets the client when nobody listens behind it", async () => {
  await using lonely = await startProxy({ host: "127.0.0.1", port: await freePort() });
  expect(await ending(connect({ host: lonely.host, port: lonely.port }))).toBe("ECONNRESET");
});
