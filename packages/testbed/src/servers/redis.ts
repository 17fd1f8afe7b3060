import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { guardedEnv } from "../guard/guard.js";
import { tempFolder } from "../guard/temp-folder.js";
import { startServerProcess } from "../process/server-process.js";
import { serverProgram } from "./ensure-servers.js";
import { onFreePort } from "./on-free-port.js";
import { type RestartableServer, restartable } from "./restartable.js";

/** A Redis that the caller alone uses, and may break. */
export interface RedisServer extends RestartableServer {
  /** `redis://…` */
  readonly url: string;
  /** Forgets every key (FLUSHALL). */
  flush(): Promise<void>;
  /** One command whose answer is no text; its words must have no space. Throws what Redis complains of. */
  command(...words: string[]): Promise<void>;
}

/** How `startRedis` starts. */
export interface RedisOptions {
  /** Directives of `redis.conf`; by default every write is appended to a file, so that a restart keeps it. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

const answerWithinMs = 5_000;

/**
 * Starts a Redis on a free port of 127.0.0.1; resolves when it answers. Throws with what to do where
 * redis-server cannot be had, and with the end of its log when it does not start.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = await serverProgram("redis-server");
  const home = tempFolder("redis");
  const data = join(home.path, "data");
  const settings = { save: "", appendonly: "yes", "protected-mode": "no", ...options.settings };
  const directives = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const password = options.settings?.requirepass;

  function start(port: number) {
    mkdirSync(data, { recursive: true });
    return startServerProcess({
      name: "Redis",
      program,
      args: ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", data, ...directives],
      folder: home.path,
      logFile: join(home.path, "log"),
      env: guardedEnv({ PATH: process.env.PATH, LC_ALL: "C" }),
      account: undefined,
      answers: () => command(port, password, "PING"),
    });
  }

  const first = await onFreePort(start).catch(async (error: unknown) => {
    await home.remove();
    throw error;
  });
  const { port } = first;
  const server = restartable({
    name: "Redis",
    first: first.started,
    start: () => start(port),
    forget: () => rm(data, { recursive: true, force: true }),
    remove: home.remove,
  });
  const credentials = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
  return {
    ...server,
    host: "127.0.0.1",
    port,
    url: `redis://${credentials}127.0.0.1:${port}`,
    flush: () => command(port, password, "FLUSHALL"),
    command: (...words) => command(port, password, words.join(" ")),
  };
}

/** One command in the protocol's inline form; throws what Redis answers when it is no success. */
async function command(
  port: number,
  password: string | number | undefined,
  line: string,
): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    await once(socket, "connect", { signal });
    const lines = password === undefined ? [line] : [`AUTH ${password}`, line];
    for (const one of lines) {
      socket.write(`${one}\r\n`);
      const [answer] = (await once(socket, "data", { signal })) as [Buffer];
      if (!/^[+:]/.test(answer.toString())) throw new Error(`Redis: ${answer.toString().trim()}`);
    }
  } finally {
    socket.destroy();
  }
}
