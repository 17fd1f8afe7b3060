import { contention } from "./contention.js";
import { cutSession } from "./cut-session.js";
import { killedHolder } from "./killed-holder.js";
import { pooler } from "./pooler.js";
import type { Scene } from "./scene.js";
import { supplierDown } from "./supplier-down.js";
import { twoGraphs } from "./two-graphs.js";

/** Every scene, in the order in which they are played. */
export const scenes: readonly Scene[] = [
  contention,
  supplierDown,
  twoGraphs,
  killedHolder,
  cutSession,
  pooler,
];
