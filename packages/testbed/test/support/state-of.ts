import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Whether a process stands still after SIGSTOP. */
export function stateOf(pid: number): "running" | "stopped" {
  return letterOf(pid).startsWith("T") ? "stopped" : "running";
}

/** From the process table, see proc(5); slim Linux images have no `ps`. */
function letterOf(pid: number): string {
  if (process.platform !== "linux") {
    return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).trim();
  }
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2);
}
