import type { Teller } from "./submit.js";

/** A NOTIFY in every transaction takes a lock that all of them share; so many ms lie between two. */
const betweenMs = 50;

/** One submit of many carries the word; the others are told of soon after. */
export function teller(channel: string, tell: () => Promise<void>): Teller & { soon(): void } {
  let toldAt = Number.NEGATIVE_INFINITY;
  let trailing: NodeJS.Timeout | undefined;

  function soon(): void {
    if (trailing !== undefined) return;
    trailing = setTimeout(() => {
      trailing = undefined;
      toldAt = performance.now();
      void tell();
    }, betweenMs).unref();
  }

  return {
    channel,
    takesTurn() {
      if (performance.now() - toldAt < betweenMs) {
        soon();
        return false;
      }
      toldAt = performance.now();
      return true;
    },
    soon,
  };
}
