/**
 * Which way the arrows run (see ARCHITECTURE.md). Read from the built JavaScript, so that only imports
 * of values count: types may refer to each other.
 */
const arrows = {
  core: [],
  postgres: ["core"],
  "skip-lock": ["core", "postgres"],
  "durable-claim": ["core", "postgres"],
  "external-lease": ["core"],
  langgraph: ["core", "postgres"],
  conformance: ["core"],
  testbed: [],
};

const directions = Object.entries(arrows).map(([name, allowed]) => ({
  name: `${name}-imports-only-${allowed.join("-and-") || "itself"}`,
  severity: "error",
  from: { path: `^packages/${name}/dist` },
  to: {
    path: "^(packages|apps|test|bench)/",
    pathNot: `^packages/(${[name, ...allowed].join("|")})/dist`,
  },
}));

export default {
  forbidden: [
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    {
      name: "nobody-imports-the-index-of-their-own-package",
      severity: "error",
      from: { path: "^(packages|apps)/([^/]+)/dist/.+" },
      to: { path: "^$1/$2/dist/index\\.js$" },
    },
    {
      name: "a-package-is-entered-by-its-exports",
      severity: "error",
      from: { path: "^(packages|apps|test)/([^/]+)/" },
      to: { path: "^packages/([^/]+)/src" },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    ...directions,
  ],
  options: {
    includeOnly: "^(packages/[^/]+/dist|apps/[^/]+/dist|test/dist)",
    exclude: "\\.d\\.ts$",
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "default"] },
  },
};
