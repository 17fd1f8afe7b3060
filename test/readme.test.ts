import { readFileSync } from "node:fs";
import { Annotation, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { tick } from "@sole-writer/core";
import { runGraph } from "@sole-writer/langgraph";
import { openSession, sessionName } from "@sole-writer/postgres";
import { skipLock } from "@sole-writer/skip-lock";
import { sharedPostgres } from "@sole-writer/testbed";
import { beforeAll, describe, expect, it } from "vitest";

// The examples of three READMEs, line by line: the test at the end compares them.
describe("the examples of the READMEs", () => {
  let url = "";
  beforeAll(async () => {
    url = await (await sharedPostgres()).createDatabase();
  });

  it("runs a graph under a coordinator", async () => {
    const restockPlan = new StateGraph(
      Annotation.Root({ day: Annotation<string>, orders: Annotation<number> }),
    )
      .addNode("plan", () => ({ orders: 3 }))
      .addEdge(START, "plan")
      .compile({ checkpointer: new MemorySaver() });

    const coordinator = skipLock({ app: "warehouse", url });
    const outcome = await runGraph(coordinator, "restock_plan", restockPlan, {
      input: { day: "2026-12-03" },
      threadId: "restock 2026-12-03",
      window: "2026-12-03T06:00:00Z", // the planned time; a window that is done never runs again
    });
    if (outcome.status === "skipped") console.log(outcome.refusal.message);
    await coordinator.close(); // asks running work to stop, and waits for it

    expect(outcome).toMatchObject({ status: "ran", value: { orders: 3 } });
  });

  it("ticks with skip-lock", async () => {
    const said: unknown[] = [];
    const console = { log: (line: unknown) => said.push(line) };

    const coordinator = skipLock({ app: "warehouse", url });
    const outcome = await tick(coordinator, "restock_plan", async (grant) => {
      grant.signal.throwIfAborted(); // aborts when the lock is lost: give it to everything you call
      return `planned under fence ${grant.fence}`;
    });
    console.log(outcome.status === "skipped" ? outcome.refusal.message : outcome.status);
    await coordinator.close();

    expect(said).toEqual(["ran"]);
  });

  it("opens a session", async () => {
    const said: unknown[][] = [];
    const note = (...line: unknown[]) => said.push(line);
    const console = { log: note, error: note };

    const { applicationName } = sessionName({ id: crypto.randomUUID(), label: "replica-1" }, 1);
    const signal = AbortSignal.timeout(5_000);
    const session = await openSession({ url, applicationName, signal });
    session.onEnd((cause) => console.error("the session is over", cause));
    const [row] = await session.run<{ now: Date }>({ text: "select now()" }, []);
    console.log(row?.now, session.backendPid);
    await session.end();

    expect(said.map(([first]) => first)).toEqual([expect.any(Date), "the session is over"]);
  });

  it.each(["../README.md", "../packages/skip-lock/README.md", "../packages/postgres/README.md"])(
    "%s shows lines that run here, with a URL of its own",
    (readme) => {
      const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
      const example = /```ts\n([\s\S]*?)```/.exec(read(readme))?.[1] ?? "none";
      const here = read("readme.test.ts")
        .split("\n")
        .map((line) => line.trim());
      const lines = example
        .replaceAll(/url: "postgres:[^"]*"/g, "url")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("import"));
      expect(lines.length).toBeGreaterThan(3);
      for (const line of lines) expect(here).toContain(line.trim());
    },
  );
});
