import type { ServerProcess } from "../process/server-process.js";

/** What can be done to a server that is no database of ours: it keeps its port in all of it. */
export interface RestartableServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Ended and started again; with `keepData` false it has forgotten everything. Default true. */
  restart(options?: { readonly keepData?: boolean }): Promise<void>;
  /** Ends it and keeps its data; `crash` is SIGKILL. */
  shutDown(how?: "clean" | "crash"): Promise<void>;
  startAgain(): Promise<void>;
  /** SIGSTOP: it stands still with all its connections open. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Ends it and removes its data. A second call changes nothing. */
  stop(): Promise<void>;
}

/** The life of a server over several processes on one port. */
export function restartable(at: {
  readonly name: string;
  readonly first: ServerProcess;
  start(): Promise<ServerProcess>;
  /** Removes its data; called while it does not run. */
  forget(): Promise<void>;
  remove(): Promise<void>;
}): Omit<RestartableServer, "host" | "port"> {
  let running = at.first;
  let isStopped = false;

  async function startAgain(): Promise<void> {
    if (isStopped)
      throw new Error(`This ${at.name} was stopped and its data is gone: start a new one.`);
    if (running.hasExited) running = await at.start();
  }

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await running.end("SIGKILL");
    await at.remove();
  }

  return {
    restart: async ({ keepData = true } = {}) => {
      await running.end(keepData ? "SIGTERM" : "SIGKILL");
      if (!keepData) await at.forget();
      await startAgain();
    },
    shutDown: (how = "clean") => running.end(how === "clean" ? "SIGTERM" : "SIGKILL"),
    startAgain,
    pause: () => running.signal("SIGSTOP"),
    resume: () => running.signal("SIGCONT"),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
