import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { demandOf } from "../warehouse/demand.js";
import type { ArticleState, Demand, PurchaseOrder, Quote } from "../warehouse/model.js";
import { deriveOrders } from "../warehouse/orders.js";
import { quotesFrom } from "../warehouse/quotes.js";
import { readArticles } from "../warehouse/read.js";
import { writeOrders } from "../warehouse/write.js";
import { grantOfRun, onRecord, type Tools } from "./tools.js";

const State = Annotation.Root({
  /** The planned time of the tick. */
  window: Annotation<string>,
  articles: Annotation<readonly ArticleState[]>,
  demands: Annotation<readonly Demand[]>,
  quotes: Annotation<readonly Quote[]>,
  orders: Annotation<readonly PurchaseOrder[]>,
});
type Plan = typeof State.State;

/** Stock and sales, then demand, then the suppliers' quotes, then purchase orders, then the table. */
export function restockPlan(tools: Tools) {
  const { pool, outside, saver } = tools;
  const node = <Update>(
    name: string,
    body: (plan: Plan, signal: AbortSignal | undefined) => Promise<Update>,
  ) => onRecord(tools, name, (plan: Plan, { signal }) => body(plan, signal));

  return new StateGraph(State)
    .addNode(
      "read_warehouse",
      node("read_warehouse", async () => ({ articles: await readArticles(pool) })),
    )
    .addNode(
      "forecast",
      node("forecast", async ({ articles }) => ({ demands: articles.map(demandOf) })),
    )
    .addNode(
      "ask_suppliers",
      node("ask_suppliers", async ({ articles }, signal) => {
        const suppliers = [...new Set(articles.map(({ supplier }) => supplier))];
        const answers = await Promise.all(
          suppliers.map(async (supplier) => {
            return quotesFrom(supplier, await outside.askSupplier(supplier, signal));
          }),
        );
        return { quotes: answers.flat() };
      }),
    )
    .addNode(
      "derive_orders",
      node("derive_orders", async ({ articles, demands, quotes }) => ({
        orders: deriveOrders(articles, demands, quotes),
      })),
    )
    .addNode(
      "write_orders",
      node("write_orders", async ({ window, orders }) => {
        const { graph, fence } = grantOfRun();
        await writeOrders(pool, { graph, fence: String(fence), window }, orders);
        return {};
      }),
    )
    .addEdge(START, "read_warehouse")
    .addEdge("read_warehouse", "forecast")
    .addEdge("forecast", "ask_suppliers")
    .addEdge("ask_suppliers", "derive_orders")
    .addEdge("derive_orders", "write_orders")
    .addEdge("write_orders", END)
    .compile({ checkpointer: saver });
}

/** A finished plan in a few words. */
export function describePlan({ orders }: Pick<Plan, "orders">): string {
  const lines = orders.reduce((sum, order) => sum + order.lines.length, 0);
  const totalCents = orders.reduce((sum, order) => sum + order.totalCents, 0);
  const total = (totalCents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 });
  return `${orders.length} purchase orders, ${lines} lines, EUR ${total}`;
}
