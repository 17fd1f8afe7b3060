import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { type FenceFigures, fence } from "./fence.js";
import type { Spread } from "./measure.js";

const usage = `Usage: pnpm bench [--quick] [--json]

What the fence of the checkpointer costs, in one run on one server: read the ratios, not the figures.

  --quick  a tenth of the rounds
  --json   the figures as JSON
`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(usage);
else await main();

async function main(): Promise<void> {
  const figures = await fence(values.quick ? 30 : 300);
  const environment = `Node ${process.version}, ${cpus().length} cores, fsync on`;
  if (values.json)
    process.stdout.write(`${JSON.stringify({ environment, ...figures }, null, 2)}\n`);
  else process.stdout.write(report(environment, figures));
}

function report(environment: string, { runs, parts }: FenceFigures): string {
  const base = runs["plain saver"].medianMs;
  const lines = [
    environment,
    "",
    ...Object.entries(runs).map(
      ([name, spread]) => `${line(name, spread)}  ${(spread.medianMs / base).toFixed(3)} times`,
    ),
    "",
    ...Object.entries(parts).map(([name, spread]) => line(name, spread)),
  ];
  return `${lines.join("\n")}\n`;
}

function line(name: string, { medianMs, p10Ms, p90Ms }: Spread): string {
  const figure = (ms: number) => ms.toFixed(3).padStart(8);
  return `${name.padEnd(32)}${figure(medianMs)} ms  (${figure(p10Ms)} to ${figure(p90Ms)})`;
}
