import type { Quote } from "./model.js";

/**
 * Reads what a supplier answered: it comes from outside, so nothing about it is taken for granted.
 * @throws {Error} which names the supplier when the answer is not a list of quotes
 */
export function quotesFrom(supplier: string, answer: unknown): Quote[] {
  if (Array.isArray(answer) && answer.every(isQuote)) return answer;
  throw new Error(`${supplier} did not answer with a list of quotes. Ask again, or ask a person.`);
}

/**
 * Reads what the scale answered: grams by box.
 * @throws {Error} when the answer is something else
 */
export function gramsFrom(answer: unknown): Record<string, number> {
  if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) {
    const entries: [string, unknown][] = Object.entries(answer);
    const read = entries.filter((entry): entry is [string, number] => isWhole(entry[1]));
    if (read.length === entries.length) return Object.fromEntries(read);
  }
  throw new Error("The scale did not answer with grams by box. Weigh again.");
}

function isQuote(value: unknown): value is Quote {
  return (
    typeof value === "object" &&
    value !== null &&
    "sku" in value &&
    typeof value.sku === "string" &&
    "leadTimeDays" in value &&
    isWhole(value.leadTimeDays) &&
    "priceCents" in value &&
    isWhole(value.priceCents) &&
    "available" in value &&
    isWhole(value.available)
  );
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
