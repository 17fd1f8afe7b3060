import {
  Annotation,
  type BaseCheckpointSaver,
  END,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { stop } from "./promises.js";

export const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (old, more) => old.concat(more), default: () => [] }),
});
export type Log = typeof State.State;

type Body = (state: Log, config: LangGraphRunnableConfig) => Promise<Partial<Log>>;

/** Nodes one after the other, each of which logs its name; `bodies` replaces some. */
export function chain(
  saver: BaseCheckpointSaver | undefined,
  bodies: Record<string, Body | "default">,
  breakpoints: { interruptBefore?: string[]; interruptAfter?: string[] } = {},
) {
  const runs: string[] = [];
  const names = Object.keys(bodies);
  let graph = new StateGraph(State) as unknown as LooseGraph;
  for (const name of names) {
    const body = bodies[name];
    graph = graph.addNode(name, async (state, config) => {
      runs.push(name);
      return typeof body === "function" ? await body(state, config) : { log: [name] };
    });
  }
  for (const [from, to] of pairs([START, ...names, END])) graph = graph.addEdge(from, to);
  return { runs, graph: graph.compile({ ...(saver && { checkpointer: saver }), ...breakpoints }) };
}

/** Node names that are only known at run time do not fit the types of `StateGraph`. */
interface LooseGraph {
  addNode(name: string, body: Body): LooseGraph;
  addEdge(from: string, to: string): LooseGraph;
  compile(options: {
    checkpointer?: BaseCheckpointSaver;
  }): ReturnType<StateGraph<(typeof State)["spec"]>["compile"]>;
}

function pairs(names: readonly string[]): [string, string][] {
  return names.slice(1).map((to, index) => [names[index] ?? START, to]);
}

/** A saver whose writes a test can hold back, and which lists those that landed. */
export function slowSaver() {
  const saver = new MemorySaver();
  const landed: string[] = [];
  let gate: ReturnType<typeof stop> | undefined;
  const put = saver.put.bind(saver);
  const putWrites = saver.putWrites.bind(saver);
  saver.put = async (...args) => {
    await gate?.here();
    const result = await put(...args);
    landed.push(`${args[2].source} ${args[2].step}`);
    return result;
  };
  saver.putWrites = async (...args) => {
    await gate?.here();
    await putWrites(...args);
    landed.push("writes");
  };
  return {
    saver,
    landed,
    /** From now on writes wait; the gate's `reached` says that one does. */
    hold() {
      gate = stop();
      return gate;
    },
  };
}

export const thread = (id: string) => ({ configurable: { thread_id: id } });

/** The checkpoints of a thread, newest first. */
export async function checkpoints(saver: BaseCheckpointSaver, id: string) {
  const found = [];
  for await (const tuple of saver.list({ configurable: { thread_id: id, checkpoint_ns: "" } }))
    found.push(tuple);
  return found;
}
