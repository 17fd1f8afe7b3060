import { randomUUID } from "node:crypto";
import type { CoordinatorFactory } from "@sole-writer/conformance";
import { type SpawnedProcess, spawnProcess } from "@sole-writer/testbed";
import type { Command, ReplicaOptions, Report } from "./replica.js";

type ReportOf<Type extends Report["type"]> = Extract<Report, { readonly type: Type }>;

/** A replica process, as a test sees it. */
export interface ThreadReplica {
  readonly process: SpawnedProcess;
  run(entry: string, threadId: string): void;
  /** Lets the node at hand go on. */
  goOn(): void;
  next<Type extends Report["type"]>(type: Type): Promise<ReportOf<Type>>;
  /** What only a broken process reports. */
  readonly crashes: Report[];
}

/** Starts replicas of one application: with a strategy, or without the toolkit. */
export function replicasOf(factory: CoordinatorFactory | undefined, url: string) {
  const app = `app-${randomUUID()}`;
  const coordinator: ReplicaOptions["coordinator"] = factory
    ? { module: String(factory.module), settings: factory.settings }
    : "none";
  const started: ThreadReplica[] = [];

  async function start(label: string): Promise<ThreadReplica> {
    const options: ReplicaOptions = { label, url, app, coordinator };
    const crashes: Report[] = [];
    const process = spawnProcess(new URL("../../dist/threads/replica.js", import.meta.url), {
      label,
      args: [JSON.stringify(options)],
      onMessage: (message) => {
        if ((message as Report).type === "crash") crashes.push(message as Report);
      },
    });
    const send = (command: Command) => process.send(command);
    const replica: ThreadReplica = {
      process,
      crashes,
      run: (entry, threadId) => send({ type: "run", entry, threadId }),
      goOn: () => send({ type: "go-on" }),
      next: (type) =>
        process.nextMessage<ReportOf<typeof type>>((message) => message.type === type, 30_000),
    };
    started.push(replica);
    await replica.next("ready");
    return replica;
  }

  return {
    app,
    start,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(started.map(({ process }) => process.kill()));
    },
  };
}
