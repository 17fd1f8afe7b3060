import { describeCoordinator } from "../../src/index.js";

/** The first example of the README. Compiled and not run: nobody listens there. */
export function exampleForAServer(myServer: { deleteKey(key: string): Promise<void> }): void {
  describeCoordinator("my coordinator", {
    module: new URL("./my-coordinator.js", import.meta.url), // exports open(options)
    settings: { port: 7000 },
    faults: {
      network: { host: "127.0.0.1", port: 7000, settings: (port) => ({ port }) },
      takeAway: ({ app, graph }) => myServer.deleteKey(`${app}/${graph}`),
    },
  });
}
