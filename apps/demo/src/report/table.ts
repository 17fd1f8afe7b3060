import Table from "cli-table3";
import { createColors } from "picocolors";
import type { Verdict } from "./verdict.js";

const widths = [15, 48, 38, 8];

/** What was promised and what was seen, as a table of about 115 columns. */
export function tableOf(scenes: readonly Verdict[], useColor: boolean): string {
  const colors = createColors(useColor);
  const table = new Table({
    head: ["scene", "promised", "seen", ""],
    colWidths: widths,
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { name, title, checks, why } of scenes) {
    if (why !== undefined) table.push([name, title, why, colors.yellow("left out")]);
    checks.forEach(({ promised, seen, kept }, index) => {
      const mark = kept ? colors.green("kept") : colors.red("BROKEN");
      table.push([index === 0 ? name : "", promised, seen, mark]);
    });
  }
  return table.toString();
}
