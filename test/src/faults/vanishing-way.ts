import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readlink } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const forward = fileURLToPath(new URL("../../dist/faults/forward.js", import.meta.url));

/** A way to a server of this machine through a network namespace, so that it can be cut below TCP. */
export interface VanishingWay {
  /** The server must listen here too: it is what the way leads to. */
  readonly serverAddress: string;
  /** Leads to `port` of the server; resolves to where the way begins. */
  leadTo(port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** From now on every packet is lost, and no end of a connection is told. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** The namespace and its link end with the process inside, also when this process is killed. */
  close(): Promise<void>;
}

/** Undefined where this needs rights that are not there: it takes Linux, root, and `ip`. */
export async function openVanishingWay(): Promise<VanishingWay | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const inside = spawn("unshare", ["--net", process.execPath, forward], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const close = async () => {
    if (inside.exitCode !== null || inside.signalCode !== null) return;
    inside.stdin.end();
    inside.kill("SIGKILL");
    await once(inside, "exit");
  };
  try {
    await once(inside, "spawn");
    return await link(inside, close);
  } catch {
    await close();
    return undefined;
  }
}

async function link(
  inside: ChildProcessByStdio<Writable, Readable, null>,
  close: () => Promise<void>,
): Promise<VanishingWay> {
  const { pid } = inside;
  if (pid === undefined) throw new Error("the process inside has no id");
  // Two addresses out of 10.213.0.0/16, by the process id, so that two runs do not meet.
  const net = `10.213.${(pid >> 6) & 255}.${(pid & 63) * 4}`;
  const [serverAddress, farAddress] = [1, 2].map((last) =>
    net.replace(/\d+$/, (n) => `${+n + last}`),
  );
  if (serverAddress === undefined || farAddress === undefined) throw new Error("no addresses");
  const [near, far] = [`sw${pid}`, `swn${pid}`];
  const there = (...args: string[]) => run("nsenter", ["-t", `${pid}`, "-n", "ip", ...args]);

  await namespaceOf(pid);
  await run("ip", ["link", "add", near, "type", "veth", "peer", "name", far, "netns", `${pid}`]);
  await run("ip", ["addr", "add", `${serverAddress}/30`, "dev", near]);
  await run("ip", ["link", "set", near, "up"]);
  await there("addr", "add", `${farAddress}/30`, "dev", far);
  await there("link", "set", far, "up");

  return {
    serverAddress,
    async leadTo(port) {
      inside.stdin.write(`${farAddress} ${serverAddress} ${port}\n`);
      const [line] = await once(createInterface({ input: inside.stdout }), "line");
      return { host: farAddress, port: Number(line) };
    },
    cut: async () => void (await there("link", "set", far, "down")),
    restore: async () => void (await there("link", "set", far, "up")),
    close,
  };
}

/** `unshare` makes the namespace after it has started; until then the process is in ours. */
async function namespaceOf(pid: number): Promise<void> {
  const ours = await readlink("/proc/self/ns/net");
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await readlink(`/proc/${pid}/ns/net`)) !== ours) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("no namespace was made");
}
