import type { StreamMode } from "@langchain/langgraph";

/** What LangGraph's `stream` is asked for. Its chunks are passed on as they come. */
export interface StreamShape {
  /** Default: the graph's own, `"updates"` for most. */
  readonly streamMode?: StreamMode | StreamMode[];
  /** Chunks of subgraphs as well; each chunk then begins with its namespace. */
  readonly subgraphs?: boolean;
}
