/** A process that starts one which starts everything, as a test runner and its worker do. */
import { spawnProcess } from "@sole-writer/testbed";

const worker = spawnProcess(new URL("./start-everything.mjs", import.meta.url));
const started = await worker.nextMessage((message) => message.pids !== undefined);
process.send({ ...started, pids: [...started.pids, worker.pid] });
