import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // Starts the PostgreSQL that tests share, when the first of them asks for it.
    globalSetup: ["packages/testbed/dist/vitest-global-setup.js"],
    // Two cores: one file with processes and servers of its own beside another is as much as is steady.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
