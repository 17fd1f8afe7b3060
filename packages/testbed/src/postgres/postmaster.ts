import { join } from "node:path";
import { type ServerProcess, startServerProcess } from "../process/server-process.js";
import type { Account } from "./account.js";
import { serverEnv } from "./data-folder.js";
import { queryOnce } from "./query.js";

/** Starts `postgres` on `folder` and resolves when `url` answers. Throws with the end of its log. */
export function startPostmaster(at: {
  readonly binaries: string;
  readonly folder: string;
  readonly logFile: string;
  readonly port: number;
  readonly url: string;
  readonly account: Account | undefined;
}): Promise<ServerProcess> {
  return startServerProcess({
    name: "PostgreSQL",
    program: join(at.binaries, "postgres"),
    args: ["-D", at.folder, "-p", String(at.port)],
    folder: at.folder,
    logFile: at.logFile,
    env: serverEnv(),
    account: at.account,
    gentle: "SIGQUIT",
    answers: () => answersFrom(at),
  });
}

/** Another server, started at the same moment, may have got the port instead of ours. */
async function answersFrom(at: { readonly url: string; readonly folder: string }): Promise<void> {
  const [row] = await queryOnce<{ data_directory: string }>(at.url, "SHOW data_directory");
  if (row?.data_directory !== at.folder) throw new Error("another PostgreSQL answered");
}
