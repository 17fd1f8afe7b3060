import { cases, laws, nameOfLaw, openSuite } from "@sole-writer/conformance/cases";
import { sharedPostgres } from "@sole-writer/testbed";
import { afterAll, describe, expect, it } from "vitest";
import { controls } from "./src/controls/controls.js";
import { onPostgresFactory } from "./src/controls/on-postgres.js";

/** Two rounds: a control that only many rounds find is found by luck. */
const options = { rounds: 2, replicas: 3, stormMs: 500, giveUps: 20 };

const server = await sharedPostgres();
const url = await server.createDatabase();
afterAll(() => server.stop());

const caught: string[] = [];

describe("a coordinator that is broken on purpose fails at the law it breaks", () => {
  for (const { name, law, caughtBy, saying, factory } of controls)
    it(`${nameOfLaw(law)}: ${name}`, async () => {
      const found = cases.find((one) => one.law === law && one.name === caughtBy);
      if (!found) throw new Error(`The suite has no case "${caughtBy}" of ${nameOfLaw(law)}.`);
      const suite = await openSuite(factory(url), options);
      try {
        const verdict = await suite.judge(found);
        expect(verdict.kind).toBe("broken");
        if (verdict.kind === "broken") expect(verdict.error.message).toMatch(saying);
        caught.push(`${nameOfLaw(law)} | ${name} | ${caughtBy}`);
      } finally {
        await suite.close();
      }
    });

  it("for every law that the suite has", () => {
    const asked = new Set(cases.map(({ law }) => law));
    const broken = new Set(controls.map(({ law }) => law));
    const without = laws.filter(({ number }) => asked.has(number) && !broken.has(number));
    expect(without).toEqual([]);
  });

  it("as this table says", () => {
    expect(caught).toMatchSnapshot();
    console.log(["law | control | caught by", ...caught].join("\n"));
  });
});

describe("the honest lock that the controls on Postgres were made from", () => {
  const broken = controls.filter(({ factory }) => factory(url).settings !== "good");
  const names = [...new Set(broken.map(({ caughtBy }) => caughtBy))];
  it.each(names)("keeps: %s", async (name) => {
    const suite = await openSuite(onPostgresFactory("honestLock", url), options);
    try {
      for (const one of cases.filter((candidate) => candidate.name === name)) {
        const verdict = await suite.judge(one);
        if (verdict.kind === "broken") throw verdict.error;
        expect(verdict.kind).toBe("kept");
      }
    } finally {
      await suite.close();
    }
  });
});
