// One replica of many that start at the same moment on an empty database.
import { ensureSchema, openSession, sessionName } from "@sole-writer/postgres";

const [url, id] = process.argv.slice(2);
const holder = { id, label: "racer" };
let count = 0;
process.send?.("ready");
process.on("message", async () => {
  const signal = AbortSignal.timeout(20_000);
  count += 1;
  const { applicationName } = sessionName(holder, count);
  try {
    const session = await openSession({ url, applicationName, signal });
    await ensureSchema(session, { create: true, signal });
    const [row] = await session.run(
      { text: "select count(*)::int as n from sole_writer.graph" },
      [],
    );
    await session.end();
    process.send?.({ rows: row.n });
  } catch (error) {
    process.send?.({ problem: `${error.code}: ${error.message}` });
  }
});
