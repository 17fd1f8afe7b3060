// A replica as in production: it ticks, it closes, and then nothing may keep it alive.
import { tick } from "@sole-writer/core";
import { skipLock } from "@sole-writer/skip-lock";

const [url, session, count] = process.argv.slice(2);
const coordinator = skipLock({ app: "ticking", url, session });
let ran = 0;
for (let index = 0; index < Number(count); index += 1) {
  const outcome = await tick(coordinator, `graph-${index % 10}`, async () => index);
  if (outcome.status === "ran" && outcome.value === index) ran += 1;
}
await coordinator.close();
process.send?.({ ran });
process.channel?.unref();
