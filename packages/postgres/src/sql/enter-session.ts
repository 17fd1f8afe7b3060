import type { Statement } from "./statement.js";

/**
 * The first statement of a session: is it private, is it the primary, and then its settings.
 *
 * Behind a pooler the process that answers is not the one that was announced at connect, and whatever is
 * set there would be set on somebody else's session. The `case` makes each setting wait for that answer.
 *
 * The TCP settings let the *server* notice a vanished host: 5 + 3 x 2 s, about 10 s, also while a
 * statement runs (PostgreSQL manual, "Connection Settings"). The client gives up well before. Unknown
 * settings, of other versions and of other platforms, are left out.
 *
 * $1 the process id that the server announced, $2 application_name
 */
export const enterSession: Statement = {
  text: `
    select
      pg_catalog.pg_backend_pid() as backend_pid,
      pg_catalog.pg_is_in_recovery() as in_recovery,
      pg_catalog.current_setting('server_version_num')::int as version,
      (
        select count(
          case
            when pg_catalog.pg_backend_pid() = $1::int
              and pg_catalog.current_setting(wanted.name, true) is not null
            then pg_catalog.set_config(wanted.name, wanted.value, false)
          end
        )
        from (
          values
            ('application_name', $2::text),
            ('tcp_keepalives_idle', '5'),
            ('tcp_keepalives_interval', '2'),
            ('tcp_keepalives_count', '3'),
            ('tcp_user_timeout', '10000'),
            (
              case when pg_catalog.version() ~ 'Windows|mingw|Visual C' then 'absent.on_windows'
              else 'client_connection_check_interval' end,
              '1000'
            ),
            ('idle_session_timeout', '0'),
            ('idle_in_transaction_session_timeout', '0'),
            ('transaction_timeout', '0'),
            ('statement_timeout', '0'),
            ('lock_timeout', '0'),
            ('default_transaction_isolation', 'read committed'),
            ('default_transaction_read_only', 'off'),
            ('TimeZone', 'UTC')
        ) as wanted (name, value)
      ) as settings_made`,
};

/** The answer to `enterSession`. */
export interface EnteredSession {
  readonly backend_pid: number;
  readonly in_recovery: boolean;
  readonly version: number;
}
