import { rm } from "node:fs/promises";
import { join } from "node:path";
import { guardedEnv } from "../guard/guard.js";
import { tempFolder } from "../guard/temp-folder.js";
import { freePort } from "../network/free-port.js";
import { isPortTaken, startServerProcess } from "../process/server-process.js";
import { serverProgram } from "./ensure-servers.js";
import { type RestartableServer, restartable } from "./restartable.js";

/** An etcd that the caller alone uses, and may break. */
export interface EtcdServer extends RestartableServer {
  /** `http://…` for clients; `hosts` is the same as a list, as clients want it. */
  readonly url: string;
  readonly hosts: readonly string[];
  /** Deletes every key; revisions go on. */
  flush(): Promise<void>;
}

/** Several etcd that form one store. */
export interface EtcdCluster extends AsyncDisposable {
  readonly hosts: readonly string[];
  /** Each can be paused, shut down and started again; keep its data, or the others refuse it. */
  readonly members: readonly EtcdServer[];
  stop(): Promise<void>;
}

interface Ports {
  readonly client: number;
  readonly peer: number;
}

/** A member without others waits for an election that nobody can disturb. */
const alone = { "heartbeat-interval": "50", "election-timeout": "500" };
/** A busy test machine must not look like a dead leader. */
const together = { "heartbeat-interval": "200", "election-timeout": "2000" };
const answerWithinMs = 5_000;
const tries = 5;

/** Starts one etcd on free ports of 127.0.0.1. Throws as `startRedis` does. */
export async function startEtcd(): Promise<EtcdServer> {
  const { members } = await startEtcdCluster(1);
  const [only] = members;
  if (only === undefined) throw new Error("etcd started no member.");
  return only;
}

/** Starts a cluster of etcd; three members survive the loss of one. */
export async function startEtcdCluster(size = 3): Promise<EtcdCluster> {
  const program = await serverProgram("etcd");
  for (let triesLeft = tries; ; triesLeft -= 1) {
    const ports: Ports[] = [];
    for (let member = 0; member < size; member += 1) {
      ports.push({ client: await freePort(), peer: await freePort() });
    }
    // None answers before most of them are there.
    const starts = await Promise.allSettled(
      ports.map((_, index) => startMember(program, ports, index)),
    );
    const members = starts.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const stop = async () => {
      await Promise.all(members.map((member) => member.stop()));
    };
    const failure = starts.find((one) => one.status === "rejected");
    if (failure === undefined) {
      const hosts = members.map((member) => member.url);
      return { hosts, members, stop, [Symbol.asyncDispose]: stop };
    }
    await stop();
    if (!isPortTaken(failure.reason) || triesLeft === 1) throw failure.reason;
  }
}

async function startMember(
  program: string,
  ports: readonly Ports[],
  index: number,
): Promise<EtcdServer> {
  const home = tempFolder("etcd");
  const data = join(home.path, "data");
  const { client = 0, peer = 0 } = ports[index] ?? {};
  const url = `http://127.0.0.1:${client}`;
  const peerUrl = (port: number) => `http://127.0.0.1:${port}`;
  const cluster = ports.map((one, member) => `member-${member}=${peerUrl(one.peer)}`).join(",");
  const flags = {
    name: `member-${index}`,
    "data-dir": data,
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peerUrl(peer),
    "initial-advertise-peer-urls": peerUrl(peer),
    "initial-cluster": cluster,
    ...(ports.length === 1 ? alone : together),
  };
  const start = () =>
    startServerProcess({
      name: "etcd",
      program,
      args: Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
      folder: home.path,
      logFile: join(home.path, "log"),
      env: guardedEnv({ PATH: process.env.PATH, HOME: home.path }),
      account: undefined,
      answers: () => ask(`${url}/health`),
    });
  const first = await start().catch(async (error: unknown) => {
    await home.remove();
    throw error;
  });
  const server = restartable({
    name: "etcd",
    first,
    start,
    forget: () => rm(data, { recursive: true, force: true }),
    remove: home.remove,
  });
  return { ...server, host: "127.0.0.1", port: client, url, hosts: [url], flush: () => flush(url) };
}

/** From the key of one zero byte on means every key: see the etcd API, "Range". */
const everyKey = { key: "AA==", range_end: "AA==" };

function flush(url: string): Promise<void> {
  return ask(`${url}/v3/kv/deleterange`, { method: "POST", body: JSON.stringify(everyKey) });
}

async function ask(url: string, request: RequestInit = {}): Promise<void> {
  const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(answerWithinMs) });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
