import { sharedPostgres } from "@sole-writer/testbed";
import { Client, Pool } from "pg";
import { expect, it } from "vitest";
import { urlOfPool } from "../src/index.js";

const server = await sharedPostgres();

it("leads where the pool leads, whatever is special in user and password", async () => {
  const url = await server.createDatabase();
  const [database] = await server.query<{ name: string }>(
    "select current_database() as name",
    [],
    url,
  );
  const { hostname, port } = new URL(url);
  const user = `odd @:/?#%user ${database?.name.slice(-8)}`;
  const password = "pass/word:@?#%25 ü";
  await server.query(`create role "${user}" login password '${password}'`, [], url);
  try {
    const parts = { host: hostname, port: Number(port), user, password };
    const pool = new Pool({ ...parts, database: database?.name ?? "" });
    const client = new Client({ connectionString: urlOfPool("pool", pool) });
    await client.connect();
    const { rows } = await client.query("select session_user as who, current_database() as where");
    await client.end();
    expect(rows).toEqual([{ who: user, where: database?.name }]);
    expect(pool.totalCount).toBe(0);
  } finally {
    await server.query(`drop role "${user}"`, [], url);
  }
});

it("is the pool's own URL where it has one", () => {
  const connectionString = "postgres://app:secret@db:5433/shop?sslmode=verify-full";
  expect(urlOfPool("pool", new Pool({ connectionString }))).toBe(connectionString);
  expect(urlOfPool("pool", new Pool({ host: "/run/postgresql", user: "a", database: "b" }))).toBe(
    "postgres://a@localhost:5432/b?host=%2Frun%2Fpostgresql",
  );
});

it.each([
  [{}, /pool must be a Pool of pg/],
  [null, /pool must be a Pool of pg/],
  [new Pool({ ssl: { ca: "mine" } }), /TLS options/],
  [new Pool({ password: async () => "secret" }), /a password that/],
  [new Pool({ connectionString: "mysql://x" }), /pool\.options\.connectionString must be a URL/],
])("refuses what no URL can say (%#)", (pool, message) => {
  expect(() => urlOfPool("pool", pool)).toThrow(message);
});
