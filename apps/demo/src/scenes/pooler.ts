import type { Scene } from "./scene.js";

export const pooler: Scene = {
  name: "pooler",
  title: "a transaction pooler in the way is refused: a lock taken through it would exclude nobody",
  async play() {
    return { kind: "left-out", why: "PgBouncer cannot be had here" };
  },
};
