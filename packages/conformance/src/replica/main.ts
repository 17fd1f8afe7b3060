import type { Open } from "../factory.js";
import { replicaHost } from "./host.js";
import { plainError } from "./plain.js";
import type { Handlers, ReplicaEvent, ReplyMessage, RequestMessage } from "./protocol.js";

/**
 * A replica as a process of its own. It obeys the suite over the channel of `fork`, ends when that
 * channel ends, and after `leave` it ends by itself: nothing here keeps it alive then.
 */
let leaving = false;

function send(message: ReplyMessage | ReplicaEvent, done?: () => void): void {
  if (process.connected) process.send?.(message, undefined, undefined, done);
}

const tell = (event: ReplicaEvent) => send(event);
const trouble = (what: string) => tell({ event: "trouble", what });

const handlers: Handlers = replicaHost({
  async load(module) {
    if (module === undefined) throw new Error("a replica of its own process needs factory.module");
    const loaded: { readonly open?: Open } = await import(module);
    if (typeof loaded.open !== "function") throw new Error(`${module} exports no function "open"`);
    return loaded.open;
  },
  tell,
  left() {
    leaving = true;
  },
});

process.on("message", async ({ id, op, ask }: RequestMessage) => {
  const handle = handlers[op] as (ask: unknown) => Promise<unknown>;
  let reply: ReplyMessage;
  try {
    reply = { id, answer: await handle(ask) };
  } catch (error) {
    reply = {
      id,
      failure: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
  send(reply, () => {
    if (leaving && process.connected) process.disconnect();
  });
});
process.on("disconnect", () => {
  if (!leaving) process.exit(0);
});
process.on("unhandledRejection", (reason) => trouble(`unhandled rejection: ${inWords(reason)}`));
process.on("uncaughtException", (error) => trouble(`uncaught exception: ${inWords(error)}`));
process.on("warning", (warning) => {
  if (warning.name === "DeprecationWarning" || warning.name === "ExperimentalWarning") return;
  trouble(`process warning: ${warning.stack ?? inWords(warning)}`);
});

function inWords(thrown: unknown): string {
  const { name, message } = plainError(thrown);
  return `${name}: ${message}`;
}
