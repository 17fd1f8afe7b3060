/**
 * The keys of one graph. What stands in braces is what Redis Cluster hashes, so both are in one slot and one
 * script may touch both. Percent-encoded, so that a brace or a slash in a name means nothing.
 */
export interface GraphKeys {
  /** Hash, kept for good: `fence`, `last_window`, `last_window_ms`, `last_done_us`. */
  readonly graph: string;
  /** Hash with an expiry, there while the graph is held: `attempt`, `holder`, `label`, `fence`, `since_us`. */
  readonly lease: string;
}

export function keysOf(app: string, graph: string): GraphKeys {
  const tag = `{${encodeURIComponent(app)}/${encodeURIComponent(graph)}}`;
  return { graph: `sole-writer:${tag}`, lease: `sole-writer:${tag}:lease` };
}

/** Set of the names of an application's graphs, for those who ask about all of them. */
export function graphsKey(app: string): string {
  return `sole-writer:graphs:{${encodeURIComponent(app)}}`;
}
