import { describe, expect, it } from "vitest";
import { durableClaim } from "../src/index.js";

const good = { app: "warehouse", url: "postgres://user:secret@localhost:5432/none" };
const build = (more: object) => () => durableClaim({ ...good, ...more });

describe("options that make no sense are refused when the coordinator is built", () => {
  it.each([
    ["an unknown name", { leaseMS: 1_000 }, /no option leaseMS; it has .*leaseMs/],
    ["a lease in seconds", { leaseMs: 30 }, /leaseMs must be .* milliseconds/],
    ["a lease of nothing", { leaseMs: 0 }, /leaseMs/],
    ["a lease that is not whole", { leaseMs: 1_000.5 }, /leaseMs/],
    ["a lease that is text", { leaseMs: "30000" }, /leaseMs/],
    ["a lease without end", { leaseMs: Number.POSITIVE_INFINITY }, /leaseMs/],
    ["a lease that is no number", { leaseMs: Number.NaN }, /leaseMs/],
    [
      "beats too far apart",
      { leaseMs: 2_000, heartbeatMs: 1_000 },
      /heartbeatMs .*half of leaseMs/,
    ],
    ["another kind of exclusion", { exclusive: "thread" }, /exclusive must be "graph" or "unit"/],
    ["parallel units of one writer", { parallel: 3 }, /parallel is for exclusive: "unit"/],
    ["no attempts", { maxAttempts: 0 }, /maxAttempts/],
    ["pauses that shrink", { retryFirstMs: 500, retryMostMs: 100 }, /retryMostMs .* retryFirstMs/],
    [
      "a policy with an unknown name",
      { graphs: { g: { attempts: 3 } } },
      /policy of "g" has no option/,
    ],
    ["a policy for a bad name", { graphs: { "g ": {} } }, /white space/],
    ["a poll of nothing", { pollMs: 0 }, /pollMs/],
    ["an app with a space", { app: "a " }, /app .*white space/],
    ["a pool beside the URL", { pool: { options: {} } }, /give one of them/],
    ["a URL of something else", { url: "redis://localhost" }, /url must be a URL such as postgres/],
  ])("%s", (_name, more, message) => {
    expect(build(more)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^INVALID_/) }),
    );
    expect(build(more)).toThrow(message);
    expect(build(more)).not.toThrow(/secret/);
  });

  it("and thirty days make sense", async () => {
    await build({ leaseMs: 30 * 24 * 60 * 60 * 1_000 })().close();
  });
});
