import { readFileSync } from "node:fs";

/** The account that a server runs under. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root: then the account `postgres`, or `nobody` where there is none.
 * Undefined when this process is not root, so that the server runs as we do.
 */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    "PostgreSQL does not run as root, and this machine has neither an account postgres nor nobody. " +
      "Run the tests as another user, or give a server in DATABASE_URL.",
  );
}
