/**
 * The rule of core's `windowHasRun`, and that of `minIntervalMs`, over a row of `sole_writer.graph`.
 * $7 identity of the window or null, $8 its time or null, $9 minIntervalMs or null
 */
export function hasRun(row: string): string {
  return `coalesce(
    ${row}.last_window = $7::text
    or $8::timestamptz <= ${row}.last_window_at
    or ${row}.last_done_at > pg_catalog.clock_timestamp() - $9::float8 * interval '1 millisecond',
    false)`;
}
