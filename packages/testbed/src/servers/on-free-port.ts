import { freePort } from "../network/free-port.js";
import { isPortTaken } from "../process/server-process.js";

const tries = 5;

/** Starts something on a free port, and on another one when somebody else was quicker. */
export async function onFreePort<T>(
  start: (port: number) => Promise<T>,
): Promise<{ port: number; started: T }> {
  for (let triesLeft = tries; ; triesLeft -= 1) {
    const port = await freePort();
    try {
      return { port, started: await start(port) };
    } catch (error) {
      if (!isPortTaken(error) || triesLeft === 1) throw error;
    }
  }
}
