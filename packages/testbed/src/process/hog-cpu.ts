import { spawn } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { guardedEnv, guardProcess } from "../guard/guard.js";

/** Processes that do nothing but use the processor. */
export interface CpuHogs extends AsyncDisposable {
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Starts `count` busy processes with niceness 10, so that everything else is slow but goes on. */
export function hogCpu(count: number): CpuHogs {
  const hogs = Array.from({ length: count }, () => {
    const hog = spawn(process.execPath, ["-e", "for (;;);"], {
      stdio: "ignore",
      env: guardedEnv({ ...process.env, NODE_OPTIONS: "" }),
    });
    guardProcess(hog);
    if (hog.pid !== undefined) setPriority(hog.pid, 10);
    hog.unref();
    return hog;
  });

  async function stop(): Promise<void> {
    await Promise.all(
      hogs.map(async (hog) => {
        if (hog.exitCode !== null || hog.signalCode !== null) return;
        hog.ref();
        const gone = once(hog, "exit");
        hog.kill("SIGKILL");
        await gone;
      }),
    );
  }

  const pids = hogs.flatMap((hog) => hog.pid ?? []);
  return { pids, stop, [Symbol.asyncDispose]: stop };
}
