import { serverMicros } from "./fragments.js";

/** What is known of a graph, at one moment. KEYS: graph, lease */
export const read = `
${serverMicros}
return {server_micros(),
  redis.call('HMGET', KEYS[1], 'fence', 'last_window', 'last_done_us'),
  redis.call('HMGET', KEYS[2], 'holder', 'label', 'fence', 'since_us')}`;
