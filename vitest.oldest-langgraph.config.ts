import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import shared from "./vitest.config.js";

const oldest = new URL("packages/langgraph/node_modules/langgraph-oldest/", import.meta.url);

/** The tests of packages/langgraph once more, on the oldest LangGraph of its peer range. */
export default defineConfig({
  resolve: { alias: [{ find: /^@langchain\/langgraph$/, replacement: fileURLToPath(oldest) }] },
  test: {
    ...shared.test,
    include: ["packages/langgraph/test/**/*.test.ts"],
    // Asks savers alone, and no graph.
    exclude: ["packages/langgraph/test/public-suite.test.ts"],
  },
});
