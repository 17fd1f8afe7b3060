/**
 * Builds what changed, for the commands that need built packages: one line when it went well, turbo's
 * whole output when it did not. Exits with turbo's code.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const startedAt = performance.now();
const turbo = createRequire(import.meta.url).resolve("turbo/bin/turbo");
const build = spawn(process.execPath, [turbo, "run", "build", ...process.argv.slice(2)], {
  stdio: ["ignore", "pipe", "pipe"],
  cwd: new URL("..", import.meta.url),
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1" },
});

const output = [];
for (const stream of [build.stdout, build.stderr]) stream.on("data", (chunk) => output.push(chunk));

build.on("close", (code) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (code === 0) {
    // Not on stdout: what the command after it prints there may be JSON.
    console.error(`Built in ${seconds} s.`);
    return;
  }
  process.stdout.write(Buffer.concat(output));
  console.error(`The build failed after ${seconds} s; see above.`);
  process.exitCode = code ?? 1;
});
