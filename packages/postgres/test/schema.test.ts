import { sharedPostgres } from "@sole-writer/testbed";
import { expect, it } from "vitest";
import { migrationSql } from "../src/index.js";

/** Everything of the schema, a line each, in an order that no version of the server changes. */
const shape = `
  select line from (
    select format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' else '' end,
      coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid),
        case a.attidentity when 'a' then ' generated always as identity' else '' end)) as line
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace = 'sole_writer'::regnamespace and a.attnum > 0 and not a.attisdropped
    union all
    select format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid))
    from pg_constraint where connamespace = 'sole_writer'::regnamespace and contype <> 'n'
    union all
    select indexdef from pg_indexes where schemaname = 'sole_writer'
    union all
    select format('%s with (%s)', relname, array_to_string(reloptions, ', '))
    from pg_class where relnamespace = 'sole_writer'::regnamespace and reloptions is not null
  ) as everything
  order by line collate "C"`;

it("is what schema.txt says, after every migration", async () => {
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  await server.query(migrationSql(), [], url);
  const lines = await server.query<{ line: string }>(shape, [], url);
  const text = `${lines.map(({ line }) => line).join("\n")}\n`;
  await expect(text).toMatchFileSnapshot("../schema.txt");
});
