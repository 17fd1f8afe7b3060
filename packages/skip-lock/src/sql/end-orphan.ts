import type { Statement } from "@sole-writer/postgres";

/**
 * Ends a session that this coordinator gave up and whose end has not reached the server, and waits for up
 * to a second until it is gone. The name is compared, because the server reuses process ids.
 *
 * $1 process id, $2 application_name
 */
export const endOrphan: Statement = {
  text: `
    select pg_catalog.pg_terminate_backend($1::int, 1000) as ended
    from pg_catalog.pg_stat_get_activity($1::int) as session
    where session.application_name = $2::text`,
};
