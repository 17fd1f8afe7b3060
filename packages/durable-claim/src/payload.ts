import { InvalidOptionError } from "@sole-writer/core";

const maxReasonLength = 2_000;
/** PostgreSQL's own limit depends on its stack; this is far from it, and further than anybody nests. */
const maxDepth = 200;

/**
 * Why a value cannot be stored as JSON, with the place in it; undefined when it can. What JSON would change
 * in silence is refused too: NaN, Infinity, functions, a bigint.
 */
function whatIsWrong(value: unknown, place: string, depth: number): string | undefined {
  if (depth > maxDepth) return `${place} is nested more than ${maxDepth} deep`;
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) return `${place} has an unpaired surrogate, which is no Unicode`;
      return value.includes("\u0000") ? `${place} has a NUL character (\\u0000)` : undefined;
    case "number":
      return Number.isFinite(value)
        ? undefined
        : `${place} is ${value}, which JSON has no word for`;
    case "boolean":
    case "undefined":
      return undefined;
    case "object":
      return value === null ? undefined : wrongInside(value, place, depth);
    default:
      return `${place} is a ${typeof value}`;
  }
}

function wrongInside(value: object, place: string, depth: number): string | undefined {
  if ("toJSON" in value && typeof value.toJSON === "function")
    return whatIsWrong(value.toJSON(), place, depth + 1);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const wrong = whatIsWrong(item, `${place}[${index}]`, depth + 1);
      if (wrong) return wrong;
    }
    return undefined;
  }
  if (value instanceof Map || value instanceof Set) return `${place} is a Map or Set`;
  for (const [key, item] of Object.entries(value)) {
    const wrong =
      whatIsWrong(key, `a name in ${place}`, depth) ??
      whatIsWrong(item, `${place}.${key}`, depth + 1);
    if (wrong) return wrong;
  }
  return undefined;
}

/**
 * The JSON of a value that PostgreSQL can store.
 * @throws {InvalidOptionError} saying where in the value the trouble is
 */
export function jsonOf(name: string, value: unknown, maxBytes: number): string {
  const wrong = whatIsWrong(value, name, 0);
  if (wrong) throw new InvalidOptionError(`${wrong}; PostgreSQL cannot store that.`);
  const json = JSON.stringify(value ?? null);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes)
    throw new InvalidOptionError(
      `${name} has ${bytes} bytes as JSON, and at most ${maxBytes} are taken (maxPayloadBytes). Store it elsewhere and pass where.`,
    );
  return json;
}

/** JSON of whatever an ending brings. An ending must not fail, so what cannot be stored is described. */
export function storable(value: unknown): string {
  try {
    return jsonOf("value", value, Number.POSITIVE_INFINITY);
  } catch (error) {
    return JSON.stringify({ notStored: cleaned(error instanceof Error ? error.message : "") });
  }
}

/** What an error says, as PostgreSQL can store it and a person can read it. Never throws. */
export function reasonOf(error: unknown): string {
  try {
    return cleaned(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  } catch {
    return "an error that cannot be shown";
  }
}

function cleaned(text: string): string {
  const clean = text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, "\uFFFD");
  return clean.length > maxReasonLength
    ? `${clean.slice(0, maxReasonLength).toWellFormed()}… (${text.length} characters)`
    : clean;
}
