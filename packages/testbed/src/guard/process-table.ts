import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** One line of the machine's process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Differs between two processes that had one pid, where the machine tells. */
  readonly started: string;
}

/** All processes of this machine, as far as this account may see them. */
export function listProcesses(): ProcessEntry[] {
  return process.platform === "linux" ? fromProc() : fromPs();
}

/** `root` and everything it started, parents first; empty when `root` is gone. */
export function familyOf(
  root: number,
  entries: readonly ProcessEntry[] = listProcesses(),
): number[] {
  if (!entries.some((entry) => entry.pid === root)) return [];
  const family = [root];
  for (const parent of family) {
    for (const entry of entries) if (entry.parent === parent) family.push(entry.pid);
  }
  return family;
}

/** What `pid` has started itself and is still there. */
export function childrenOf(pid: number): number[] {
  return listProcesses().flatMap((entry) => (entry.parent === pid ? [entry.pid] : []));
}

/** The command line of `pid`; empty when it is gone. */
export function commandOf(pid: number): string {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}

/** When `pid` was started, in the machine's own words; undefined when it is gone. */
export function startOf(pid: number): string | undefined {
  if (process.platform === "linux") return readStat(pid)?.started;
  return listProcesses().find((entry) => entry.pid === pid)?.started;
}

/** The processes whose environment holds `NAME=value`. Linux only: elsewhere nobody can be asked. */
export function carriersOf(name: string, value: string): number[] {
  if (process.platform !== "linux") return [];
  const wanted = `${name}=${value}`;
  return procPids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(wanted);
    } catch {
      return false;
    }
  });
}

function fromProc(): ProcessEntry[] {
  return procPids().flatMap((pid) => readStat(pid) ?? []);
}

function procPids(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function readStat(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name is in brackets and may hold spaces and brackets itself: see proc(5).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return undefined;
    return { pid, parent: Number(fields[1]), started: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

function fromPs(): ProcessEntry[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart="], { encoding: "utf8" });
  return lines.split("\n").flatMap((line) => {
    const [pid, parent, state, ...started] = line.trim().split(/\s+/);
    if (pid === undefined || pid === "" || state?.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), started: started.join(" ") }];
  });
}
