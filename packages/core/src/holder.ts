import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { InvalidOptionError } from "./errors.js";
import type { Holder } from "./grant.js";
import { shown } from "./words.js";

const maxLabelLength = 100;

/**
 * A fresh identity for one coordinator instance.
 * @param label for people; default `host:pid`
 * @throws {InvalidOptionError} for a label that is empty, over 100 characters, or has control characters
 */
export function newHolder(label: string = `${hostname()}:${process.pid}`): Holder {
  if (
    typeof label !== "string" ||
    label === "" ||
    label.length > maxLabelLength ||
    /\p{Cc}/u.test(label)
  )
    throw new InvalidOptionError(
      `label must be 1 to ${maxLabelLength} characters without control characters, not ${shown(label)}.`,
    );
  return { id: randomUUID(), label };
}
