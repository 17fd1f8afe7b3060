import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { noAnswer, redisFault } from "./faults.js";

/** One script, to be run on keys that are in one slot. */
export interface Call {
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: (deadline: string) => readonly string[];
}

export interface CallLimits {
  /** Longest time in ms, the connection included. */
  readonly limitMs: number;
  /** How a message begins. */
  readonly what: string;
  /** Called just before the first byte is sent. */
  readonly sending?: () => void;
}

/**
 * One connection to Redis. Opened when it is asked for; given up, and never used again, when an answer did
 * not come in time: what is sent on it later would be carried out behind what was given up.
 */
export interface Connection {
  /** Sends all calls in one go. One answer or error for each. */
  run(calls: readonly Call[], limits: CallLimits): Promise<readonly Answer[]>;
  /** One plain command, of which nobody waits for the answer. */
  tell(command: string, ...args: string[]): void;
  members(key: string, limits: CallLimits): Promise<readonly string[]>;
  close(): Promise<void>;
}

export type Answer = { readonly reply: unknown } | { readonly error: unknown };

interface Opened {
  readonly redis: Redis;
  /** The server's clock in microseconds, less ours in this process. */
  readonly offsetUs: number;
}

const isLate = (answer: Answer) =>
  "reply" in answer && Array.isArray(answer.reply) && answer.reply[0] === "late";
const shaOf = (script: string) => createHash("sha1").update(script).digest("hex");
const shas = new Map<string, string>();

export function connectionTo(connect: () => Redis): Connection {
  let opening: Promise<Opened> | undefined;
  let current: Redis | undefined;

  async function open(): Promise<Opened> {
    const redis = connect();
    current = redis;
    // Whoever asks hears of it from the answer.
    redis.on("error", () => undefined);
    redis.once("end", () => {
      if (current === redis) opening = current = undefined;
    });
    let lastError: unknown;
    redis.once("error", (error) => {
      lastError = error;
    });
    try {
      await redis.connect();
      const [seconds, micros] = (await redis.time()) as [unknown, unknown];
      const serverUs = Number(seconds) * 1_000_000 + Number(micros);
      return { redis, offsetUs: serverUs - performance.now() * 1_000 };
    } catch (error) {
      drop(redis);
      throw lastError ?? error;
    }
  }

  function drop(redis: Redis | undefined): void {
    if (current === redis) opening = current = undefined;
    redis?.disconnect();
  }

  async function within<T>(limits: CallLimits, work: (opened: Opened) => Promise<T>): Promise<T> {
    const { limitMs, what } = limits;
    let timer: NodeJS.Timeout | undefined;
    let used: Redis | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        drop(used ?? current);
        reject(noAnswer(what, limitMs));
      }, limitMs);
    });
    const asked = (async () => {
      opening ??= open();
      const opened = await opening;
      used = opened.redis;
      return await work(opened);
    })();
    asked.catch(() => undefined);
    try {
      return await Promise.race([asked, tooLong]);
    } catch (error) {
      throw redisFault(error, what);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    run(calls, limits) {
      const until = performance.now() + limits.limitMs;
      return within(limits, async ({ redis, offsetUs }) => {
        const deadline = String(Math.floor(offsetUs + until * 1_000));
        limits.sending?.();
        const send = async ({ script, keys, args }: Call): Promise<Answer> => {
          const sha = shas.get(script) ?? shaOf(script);
          shas.set(script, sha);
          const given = [...keys, ...args(deadline)];
          try {
            return { reply: await redis.evalsha(sha, keys.length, ...given) };
          } catch (error) {
            if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT"))
              return { error };
          }
          try {
            return { reply: await redis.eval(script, keys.length, ...given) };
          } catch (error) {
            return { error };
          }
        };
        const answers = await Promise.all(calls.map(send));
        // The server's clock may have been set since it was measured: the next one measures it anew.
        if (answers.some(isLate)) drop(redis);
        return answers;
      });
    },
    tell(command, ...args) {
      current?.call(command, ...args).catch(() => undefined);
    },
    members: (key, limits) => within(limits, ({ redis }) => redis.smembers(key)),
    async close() {
      drop(current);
    },
  };
}
