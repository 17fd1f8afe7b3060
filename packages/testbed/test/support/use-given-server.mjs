/** Creates a database on the shared server, tells its URL, and ends when told to. */
import { once } from "node:events";
import { sharedPostgres } from "@sole-writer/testbed";

const server = await sharedPostgres();
try {
  process.send({ database: await server.createDatabase() });
  await once(process, "message");
} catch (error) {
  process.send({ problem: error.message });
}
await server.stop();
process.disconnect();
