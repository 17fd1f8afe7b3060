/**
 * The next fencing token: larger than the last one, and not smaller than the issuing server's clock,
 * so that it keeps rising when the backend lost its data or was swapped for another.
 * See M. Kleppmann, "How to do distributed locking" (2016), for what fencing tokens are for.
 * @param last highest fence ever issued for the graph, if it is known
 * @param serverMicros the issuing server's clock in microseconds since 1970
 */
export function nextFence(last: bigint | undefined, serverMicros: bigint): bigint {
  return last !== undefined && last >= serverMicros ? last + 1n : serverMicros;
}
