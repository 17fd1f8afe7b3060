/** Which of the tables are there, and which triggers watch them. Reads catalogs only, and locks nothing. */
export const guardStatusSql = `
select
  t.name as table,
  c.oid is not null as is_there,
  coalesce(g.tgenabled <> 'D', false) as is_watched,
  -- The arguments are stored with a zero byte behind each.
  pg_catalog.split_part(pg_catalog.encode(g.tgargs, 'escape'), '\\000', 1) as mode
from pg_catalog.unnest($2::text[]) as t(name)
left join pg_catalog.pg_class as c
  on c.oid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1::text, t.name))
left join pg_catalog.pg_trigger as g on g.tgrelid = c.oid and g.tgname = 'sole_writer_guard'
`;

/** What is there of the schema \`sole_writer\`. */
export const guardPartsSql = `
select
  pg_catalog.to_regnamespace('sole_writer') is not null as has_schema,
  pg_catalog.to_regclass('sole_writer.thread') is not null as has_threads,
  pg_catalog.obj_description(pg_catalog.to_regprocedure('sole_writer.guard_checkpoint()'), 'pg_proc') as version
`;
