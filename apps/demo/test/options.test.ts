import { afterEach, describe, expect, it, vi } from "vitest";
import { parseOptions } from "../src/options.js";
import { scenes } from "../src/scenes/all.js";

afterEach(() => {
  vi.restoreAllMocks();
});

function parsed(...argv: string[]) {
  const written: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
  const result = parseOptions(argv, scenes);
  vi.restoreAllMocks();
  return { result, text: written.join("") };
}

describe("the command line", () => {
  it("plays everything when nothing is asked for", () => {
    const { result } = parsed();
    expect(result).toMatchObject({
      kind: "run",
      options: { scene: [], list: false, json: false, keep: false, unprotected: false },
    });
    expect(result.kind === "run" && result.options.timeline).toMatch(/timeline\.svg$/);
  });

  it("collects scenes and takes the other options", () => {
    const { result } = parsed(
      ...["--scene", "contention", "-s", "pooler", "--json", "--keep", "--timeline", "x.svg"],
    );
    expect(result).toMatchObject({
      kind: "run",
      options: { scene: ["contention", "pooler"], json: true, keep: true, timeline: "x.svg" },
    });
  });

  it("answers an unknown scene with the list, and 2", () => {
    const { result, text } = parsed("--scene", "contenton");
    expect(result).toEqual({ kind: "exit", code: 2 });
    expect(text).toContain('there is no scene "contenton"');
    for (const { name } of scenes) expect(text).toContain(name);
  });

  it.each([["--bogus"], ["--scene"], ["extra"]])(
    "answers %s with what is wrong, and 2",
    (...argv) => {
      const { result, text } = parsed(...argv);
      expect(result).toEqual({ kind: "exit", code: 2 });
      expect(text).toMatch(/^error: /);
    },
  );

  it("explains itself, and 0", () => {
    const { result, text } = parsed("--help");
    expect(result).toEqual({ kind: "exit", code: 0 });
    expect(text).toContain("DATABASE_URL");
  });
});
