import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openWire, type Wire } from "../src/suite/wire.js";

/** An echo that remembers what reached it. */
function echo() {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      heard.push(String(bytes));
      socket.write(bytes);
    });
  });
  return { heard, sockets, server };
}

describe("the wire", () => {
  const backend = echo();
  let wire: Wire;
  let client: Socket;

  beforeEach(async () => {
    backend.heard.length = 0;
    if (!backend.server.listening) {
      backend.server.listen(0, "127.0.0.1");
      await once(backend.server, "listening");
    }
    const address = backend.server.address();
    if (address === null || typeof address === "string") throw new Error("the echo has no port");
    wire = await openWire({ host: "127.0.0.1", port: address.port });
    client = connect(wire.port, "127.0.0.1");
    client.on("error", () => undefined);
    await once(client, "connect");
  });
  afterEach(async () => {
    client.destroy();
    await wire.shut();
    for (const socket of backend.sockets) socket.destroy();
    backend.sockets.clear();
    await new Promise((resolve) => backend.server.close(resolve));
  });

  async function say(word: string): Promise<string> {
    client.write(word);
    const [bytes] = await once(client, "data");
    return String(bytes);
  }

  it("hands everything on", async () => {
    expect(await say("one")).toBe("one");
  });

  it("swallows the reply but not the request, and does not heal that connection", async () => {
    expect(await say("one")).toBe("one");
    wire.set("no-reply");
    const [socket] = backend.sockets;
    client.write("two");
    if (socket) await once(socket, "data");
    wire.set("pass");
    client.write("three");
    if (socket) await once(socket, "data");
    expect(backend.heard).toEqual(["one", "two", "three"]);
    expect(client.bytesRead).toBe(3);
  });

  it("lets a new connection through after a hole", async () => {
    wire.set("hole");
    client.write("lost");
    wire.set("pass");
    const next = connect(wire.port, "127.0.0.1");
    next.write("found");
    expect(String((await once(next, "data"))[0])).toBe("found");
    next.destroy();
    expect(backend.heard).toEqual(["found"]);
  });

  it("cuts, refuses when shut, and comes back on the same port", async () => {
    expect(await say("one")).toBe("one");
    // Not `once`, which rejects on the reset that is wanted here.
    const closed = new Promise((resolve) => client.once("close", resolve));
    await wire.shut();
    await closed;
    const refused = connect(wire.port, "127.0.0.1");
    const [error] = await once(refused, "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    await wire.reopen();
    client = connect(wire.port, "127.0.0.1");
    expect(await say("two")).toBe("two");
  });
});
