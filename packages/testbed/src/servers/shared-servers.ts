import { startEtcd } from "./etcd.js";
import { startRedis } from "./redis.js";

/** Where a shared store is; `stop` ends it when it was started for this process. */
export interface SharedStore extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

/** The Redis in REDIS_URL when that is set, else a new one. Use keys of your own, and break nothing. */
export function sharedRedis(): Promise<SharedStore> {
  return given(process.env.REDIS_URL) ?? startRedis();
}

/** The etcd in ETCD_URL when that is set, else a new one. Use keys of your own, and break nothing. */
export function sharedEtcd(): Promise<SharedStore> {
  return given(process.env.ETCD_URL) ?? startEtcd();
}

function given(url: string | undefined): Promise<SharedStore> | undefined {
  if (url === undefined || url === "") return undefined;
  const leaveIt = async () => {};
  return Promise.resolve({ url, stop: leaveIt, [Symbol.asyncDispose]: leaveIt });
}
