export { freePort } from "./network/free-port.js";
export { type Proxy, type ProxyMode, startProxy } from "./network/proxy.js";
export type { Settings } from "./postgres/data-folder.js";
export type {
  Database,
  PostgresOptions,
  PostgresServer,
  ShutDownMode,
} from "./postgres/server.js";
export { sharedPostgres } from "./postgres/shared-postgres.js";
export { startPostgres } from "./postgres/start-postgres.js";
export type { UrlParts } from "./postgres/urls.js";
export { type CpuHogs, hogCpu } from "./process/hog-cpu.js";
export {
  type Exit,
  type SpawnedProcess,
  type SpawnOptions,
  spawnProcess,
} from "./process/spawn-process.js";
export { ensureServers } from "./servers/ensure-servers.js";
export { type EtcdCluster, type EtcdServer, startEtcd, startEtcdCluster } from "./servers/etcd.js";
export { type FoundServer, findServer, type ServerName } from "./servers/find-server.js";
export { type PgBouncer, type PgBouncerOptions, startPgBouncer } from "./servers/pgbouncer.js";
export { type RedisOptions, type RedisServer, startRedis } from "./servers/redis.js";
export type { RestartableServer } from "./servers/restartable.js";
export { type SharedStore, sharedEtcd, sharedRedis } from "./servers/shared-servers.js";
