import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type FoundServer, findServer, type ServerName } from "./find-server.js";

/** A slow mirror may take minutes; apt that waits for another apt, two more. */
const installWithinMs = 600_000;

/**
 * Finds the servers, after the repository's script has installed what is missing where that needs no
 * question: as root on Debian or Ubuntu. Never throws; what is still missing comes with advice.
 */
export async function ensureServers<const Names extends readonly ServerName[]>(
  names: Names,
): Promise<{ [Index in keyof Names]: FoundServer }> {
  const missing = names.filter((name) => !findServer(name).found);
  let problem = "";
  if (missing.length > 0 && process.getuid?.() === 0) problem = await install(missing);
  const found = names.map((name) => {
    const one = findServer(name);
    return one.found || problem === "" ? one : { ...one, advice: `${one.advice}\n${problem}` };
  });
  return found as { [Index in keyof Names]: FoundServer };
}

/** The path of one server's program. Throws the advice when it cannot be had. */
export async function serverProgram(name: ServerName): Promise<string> {
  const [server] = await ensureServers([name]);
  if (!server.found) throw new Error(server.advice);
  return server.path;
}

/** Resolves with what went wrong, or with nothing. The script lets one run at a time. */
async function install(names: readonly ServerName[]): Promise<string> {
  const script = fileURLToPath(new URL("../../../../scripts/install-servers.sh", import.meta.url));
  try {
    await promisify(execFile)("bash", [script, ...names], { timeout: installWithinMs });
    return "";
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    return `Installing it failed: ${stderr || String(error)}`;
  }
}
