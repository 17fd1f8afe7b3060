import { describe, expect, it } from "vitest";
import type { ReplicaEvent } from "../src/replica/protocol.js";
import { picturesOf } from "../src/report/spans.js";
import { storyteller, wantsColor } from "../src/report/story.js";
import { tableOf } from "../src/report/table.js";
import { timelineSvg } from "../src/report/timeline.js";
import type { Happening } from "../src/stage/happening.js";

const graph = "restock_plan";
const scene = (atMs: number, name: string): Happening => ({
  kind: "scene",
  atMs,
  name,
  title: name,
});
const event = (atMs: number, replica: string, of: ReplicaEvent["event"]): Happening => ({
  kind: "coordinator",
  atMs,
  replica,
  graph,
  event: of,
});
const granted = (atMs: number, replica: string) =>
  event(atMs, replica, { type: "granted", fence: "7" });
const settled = (atMs: number, replica: string, ending: string) =>
  event(atMs, replica, { type: "settled", fence: "7", ending });

describe("the picture", () => {
  it("draws a grant from its beginning to its end, by how it ended", () => {
    const [picture] = picturesOf(
      [
        scene(0, "s"),
        granted(1, "a"),
        event(2, "b", { type: "refused", message: "held by a", tookMs: 1 }),
        settled(5, "a", "done"),
        granted(6, "b"),
        settled(7, "b", "failed"),
        granted(8, "a"),
        event(9, "a", { type: "lost", fence: "7", reason: "session-ended" }),
        granted(10, "b"),
        { kind: "killed", atMs: 12, replica: "b" },
        event(15, "b", { type: "acquire-failed", message: "a pooler is in the way" }),
      ],
      20,
    );
    expect(
      picture?.spans.map((span) => [span.replica, span.fromMs, span.toMs, span.ending]),
    ).toEqual([
      ["a", 1, 5, "ran"],
      ["b", 6, 7, "failed"],
      ["a", 8, 9, "lost"],
      ["b", 10, 12, "killed"],
    ]);
    expect(picture?.marks).toEqual([
      { kind: "skipped", replica: "b", graph, atMs: 2, message: "held by a" },
      { kind: "error", replica: "b", graph, atMs: 15, message: "a pooler is in the way" },
    ]);
  });

  it("gives each scene what happened in it, also when the news came in another order", () => {
    const pictures = picturesOf(
      [scene(0, "one"), settled(4, "a", "done"), granted(2, "a"), scene(5, "two"), granted(6, "a")],
      9,
    );
    expect(pictures.map(({ name, spans }) => [name, spans.length])).toEqual([
      ["one", 1],
      ["two", 1],
    ]);
  });

  it("is well-formed whatever the texts are, and says so when a scene was empty", () => {
    const svg = timelineSvg(
      picturesOf(
        [scene(0, `<"&'>`), granted(1, "a<b"), settled(2, "a<b", "done"), scene(3, "x")],
        4,
      ),
    );
    expect(svg).toContain("&lt;&quot;&amp;'&gt;");
    expect(svg).toContain("a&lt;b");
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg).toContain("nobody was granted");
  });
});

describe("the story", () => {
  it("is told in the order in which things happened", () => {
    const lines: string[] = [];
    const story = storyteller((line) => lines.push(line), false);
    story.tell({ kind: "told", atMs: 20, who: "a", tone: "good", text: "second" });
    story.tell({ kind: "told", atMs: 10, who: "b", tone: "bad", text: "first" });
    story.flush();
    expect(lines).toEqual(["  0.010 s  b           first\n", "  0.020 s  a           second\n"]);
  });

  it("has colours on a terminal only, and not when nobody wants them", () => {
    expect(wantsColor({ isTTY: true }, {})).toBe(true);
    expect(wantsColor({ isTTY: false }, {})).toBe(false);
    expect(wantsColor({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
    expect(wantsColor({ isTTY: true }, { NO_COLOR: "" })).toBe(true);
    expect(wantsColor({ isTTY: true }, { TERM: "dumb" })).toBe(false);
  });
});

describe("the table", () => {
  it("has a row for each promise, and says which were broken or left out", () => {
    const table = tableOf(
      [
        {
          name: "one",
          title: "t",
          state: "broken",
          checks: [
            { promised: "p1", seen: "s1", kept: true },
            { promised: "p2", seen: "s2", kept: false },
          ],
          measuredMs: {},
        },
        {
          name: "two",
          title: "t",
          state: "left-out",
          checks: [],
          measuredMs: {},
          why: "no server",
        },
      ],
      false,
    );
    const rows = table.split("\n").filter((row) => /[a-z]/.test(row));
    expect(rows.map((row) => row.replace(/[│\s]+/g, " ").trim())).toEqual([
      "scene promised seen",
      "one p1 s1 kept",
      "p2 s2 BROKEN",
      "two t no server left",
      "out",
    ]);
  });
});
