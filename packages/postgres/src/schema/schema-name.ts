import { InvalidOptionError } from "@sole-writer/core";

/** Where the tables are unless somebody says otherwise; the name that stands in every statement here. */
export const defaultSchema = "sole_writer";

const asWritten = /\bsole_writer\b/g;
const plainName = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * A name that PostgreSQL takes without quotes, so that it means the same in an identifier and in a text.
 * @throws {InvalidOptionError} for any other, and for those that PostgreSQL keeps to itself.
 */
export function assertSchemaName(option: string, name: unknown): asserts name is string {
  if (typeof name !== "string" || !plainName.test(name) || name.startsWith("pg_"))
    throw new InvalidOptionError(
      `${option} must be 1 to 63 lower-case letters, digits and underscores, not beginning with a digit or pg_, such as "sole_writer"; not ${JSON.stringify(name)}.`,
    );
}

/** A statement of ours, about the tables of another schema. */
export function inSchema(text: string, schema: string): string {
  return schema === defaultSchema ? text : text.replace(asWritten, schema);
}
