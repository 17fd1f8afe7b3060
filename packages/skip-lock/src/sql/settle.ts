import type { Statement } from "@sole-writer/postgres";

/**
 * Records the ending on the row, if it is still that of this grant: one conditional update. It commits
 * before the lock is released, so that whoever takes the lock next sees it.
 *
 * $1 app, $2 graph, $3 fence, $4 session id, $5 whether the ending is `done`, $6 window or null, $7 its time
 * or null
 */
export const settle: Statement = {
  name: "sole-writer-settle",
  text: `
    update sole_writer.graph set
      holder_id = null,
      holder_label = null,
      session_id = null,
      backend_pid = null,
      held_since = null,
      last_done_at = case when $5::bool then pg_catalog.clock_timestamp() else last_done_at end,
      last_window = case when $5::bool then coalesce($6::text, last_window) else last_window end,
      last_window_at = case
        when $5::bool and $6::text is not null then $7::timestamptz
        else last_window_at
      end
    where app = $1::text and graph = $2::text and fence = $3::bigint and session_id = $4::text
    returning true as settled`,
};
