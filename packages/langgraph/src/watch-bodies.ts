import { AsyncLocalStorageProviderSingleton as context } from "@langchain/core/singletons";
import { currentPlace, within } from "./current-grant.js";

/**
 * How this package knows when a node has really ended.
 *
 * LangGraph does not say. A node runs in a sequence that races it against the signal, so on an abort, and
 * when a node beside it throws, `invoke`, every callback and every stream report the node as ended while
 * its body runs on. Measured with 1.4.8 and 1.7.3: the callback of a 300 ms node that was aborted after
 * 50 ms came at 50 ms. Wrapping the nodes of the graph would find the bodies, but not those of a subgraph
 * that is called inside a node, nor the tasks of an `entrypoint`.
 *
 * All of them are started in one place: the async context that LangChain keeps its configs in. Every
 * function of a node, a task, an edge and a tool is called by that storage's `run`, which returns the
 * body's own promise. So `run` is wrapped, once per process and on first use; a call outside of
 * `runGraph` passes straight through. A model that is itself a node has no function of ours or yours
 * around it and is not seen; it obeys the signal.
 */
export function watchBodies(): void {
  const storage: ContextStorage = context.getInstance();
  if (watched.has(storage)) return;
  watched.add(storage);
  const run = storage.run.bind(storage);
  storage.run = (store, callback) => {
    const place = currentPlace();
    if (!place) return run(store, callback);
    return run(store, () => {
      const node = nodeOf(context.getRunnableConfig());
      // No node: the run itself, or a library that shares the storage.
      if (node === undefined) return callback();
      // A tool inside a node is waited for as well, but it is the node that has a name.
      const name = node === place.node ? undefined : readable(node);
      return place.scope.body(name, () => within({ scope: place.scope, node }, callback));
    });
  };
}

/** The part of `AsyncLocalStorage` that LangChain asks of a storage. */
interface ContextStorage {
  run<T>(store: unknown, callback: () => T): T;
}

const watched = new WeakSet<ContextStorage>();

interface NodeConfig {
  readonly configurable?: { readonly checkpoint_ns?: unknown };
  readonly metadata?: { readonly langgraph_node?: unknown };
}

function nodeOf(config: NodeConfig | undefined): string | undefined {
  const name = config?.metadata?.langgraph_node;
  if (typeof name !== "string") return undefined;
  const place = config?.configurable?.checkpoint_ns;
  return typeof place === "string" && place !== "" ? place : name;
}

/** `outer:<task>|1|inner:<task>` is `outer|inner` for people. */
function readable(node: string): string {
  const parts = node.split("|").filter((part) => !/^\d+$/.test(part));
  return parts.map((part) => part.split(":")[0]).join("|");
}
