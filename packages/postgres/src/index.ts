export { type Address, addressOf, assertConnectionUrl } from "./connection-url.js";
export { postgresFault, stateOf } from "./faults.js";
export { type PoolAddress, urlOfPool } from "./pool-url.js";
export { ensureSchema, migrationSql } from "./schema/migrate.js";
export { assertSchemaName, defaultSchema, inSchema } from "./schema/schema-name.js";
export { openSession, type PostgresSession, type SessionOptions } from "./session.js";
export { readSessionName, type SessionName, sessionName } from "./session-name.js";
export type { Statement } from "./sql/statement.js";
