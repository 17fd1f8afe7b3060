import { inspect } from "node:util";

/** Somebody else's value as it appears in our messages: one line, never long, and it never throws. */
export function shown(value: unknown): string {
  if (typeof value !== "string")
    return inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY }).slice(0, 80);
  const text = JSON.stringify(value.slice(0, 60));
  return value.length > 60 ? `${text}… (${value.length} code units)` : text;
}

/** What an error of somebody else says, without the full stop, as part of a sentence of ours. */
export function said(error: unknown): string {
  return (error instanceof Error ? error.message : shown(error)).replace(/\.$/, "");
}
