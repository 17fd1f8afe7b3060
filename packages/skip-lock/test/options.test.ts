import { InvalidOptionError } from "@sole-writer/core";
import { expect, it } from "vitest";
import { type SkipLockOptions, skipLock } from "../src/index.js";

const good = { app: "warehouse", url: "postgres://reader:hush-hush@127.0.0.1:1/db" };

/** What a caller without types, or with a file of settings, may hand over. */
function openWith(changed: Record<string, unknown>) {
  return () => skipLock({ ...good, ...changed } as SkipLockOptions);
}

it.each<[string, Record<string, unknown>, RegExp]>([
  ["no app", { app: undefined }, /app/],
  ["an empty app", { app: "" }, /app/],
  ["a timeout of nothing", { acquireTimeoutMs: 0 }, /acquireTimeoutMs.*milliseconds/],
  ["a negative timeout", { acquireTimeoutMs: -1 }, /acquireTimeoutMs.*milliseconds/],
  ["a timeout without end", { acquireTimeoutMs: Number.POSITIVE_INFINITY }, /milliseconds/],
  ["a timeout in words", { acquireTimeoutMs: "5s" }, /acquireTimeoutMs.*milliseconds/],
  ["a lock space with a fraction", { lockSpace: 1.5 }, /lockSpace.*int4.*1\.5/],
  ["a lock space beyond int4", { lockSpace: 2 ** 31 }, /lockSpace.*int4/],
  ["a lock space below int4", { lockSpace: -(2 ** 31) - 1 }, /lockSpace.*int4/],
  ["a third kind of session", { session: "pooled" }, /session must be "dedicated" or "shared"/],
  ["a third form of key", { key: "triple" }, /key must be "pair" or "single"/],
  ["a migrate that is neither", { migrate: "yes" }, /migrate must be true or false/],
  ["an empty label", { label: "" }, /label/],
  ["no url", { url: undefined }, /url must be a URL .* none was given/],
  ["a url of something else", { url: "mysql://u:hush-hush@h/db" }, /url must be a URL/],
  ["a url that cannot be read", { url: "postgres://u:hush-hush/1@h:1/db" }, /url cannot be read/],
  ["an option that does not exist", { timeoutMs: 5 }, /no option timeoutMs; it has app, url/],
])("refuses %s before anything is connected", (_, changed, message) => {
  const open = openWith(changed);
  expect(open).toThrow(InvalidOptionError);
  expect(open).toThrow(message);
  expect(open).not.toThrow(/hush-hush/);
});

it("refuses a graph name in graphs that no acquire would take", () => {
  expect(openWith({ graphs: ["fine", " not fine"] })).toThrow(/not fine/);
});

it("takes the ends of an int4", async () => {
  await using low = skipLock({ ...good, lockSpace: -(2 ** 31) });
  await using high = skipLock({ ...good, lockSpace: 2 ** 31 - 1 });
  expect([low.backend, high.backend]).toEqual(["postgres", "postgres"]);
});

it("has an identity of its own for each coordinator, and the label that was given", async () => {
  await using one = skipLock({ ...good, label: "pod-1" });
  await using other = skipLock({ ...good, label: "pod-1" });
  expect(one.holder.label).toBe("pod-1");
  expect(one.holder.id).not.toBe(other.holder.id);
});
