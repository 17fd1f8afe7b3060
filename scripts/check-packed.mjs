/**
 * Checks the packages as users get them: each one is packed, looked at by publint and by
 * @arethetypeswrong/cli, and then all are installed together in an empty project, which imports every
 * export and type-checks a file that does the same. One line per package; details and exit code 1 when
 * something is wrong. Expects built packages.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const { packageManager } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const bin = (name) => join(root, "node_modules/.bin", name);
const pnpm = (args, cwd) => run("npx", ["-y", packageManager, ...args], { cwd });

const packages = await publishable();
const folder = await mkdtemp(join(tmpdir(), "sole-writer-packed-"));
let problems = 0;
try {
  for (const one of packages) one.tarball = await pack(one);
  for (const one of packages) report(one.manifest.name, await problemsOf(one.tarball));
  report("installed together", await problemsTogether());
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = problems === 0 ? 0 : 1;

/** Everything in packages/ that is not private. */
async function publishable() {
  const found = [];
  for (const name of (await readdir(join(root, "packages"))).sort()) {
    const path = join(root, "packages", name);
    const text = await readFile(join(path, "package.json"), "utf8").catch(() => undefined);
    const manifest = text === undefined ? { private: true } : JSON.parse(text);
    if (manifest.private !== true) found.push({ path, manifest });
  }
  return found;
}

async function pack({ path, manifest }) {
  const target = join(folder, `${manifest.name.replace("@", "").replace("/", "-")}.tgz`);
  await pnpm(["pack", "--out", target], path);
  return target;
}

function report(name, details) {
  problems += details.length;
  console.log(details.length === 0 ? `ok    ${name}` : `WRONG ${name}\n${details.join("\n")}`);
}

async function problemsOf(tarball) {
  const checks = [
    run(bin("publint"), ["run", tarball, "--strict"]),
    run(bin("attw"), [tarball, "--profile", "esm-only", "--no-emoji", "--no-color"]),
  ];
  return failuresOf(await Promise.allSettled(checks));
}

function failuresOf(results) {
  return results
    .filter(({ status }) => status === "rejected")
    .map(({ reason }) => `${reason.stdout ?? ""}${reason.stderr ?? ""}` || String(reason));
}

/** Every way into a package that its manifest offers. */
function entriesOf({ manifest }) {
  return Object.keys(manifest.exports)
    .filter((entry) => !entry.endsWith(".json"))
    .map((entry) => join(manifest.name, entry));
}

async function problemsTogether() {
  const project = join(folder, "project");
  await mkdir(project);
  const tarballs = Object.fromEntries(
    packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]),
  );
  const entries = packages.flatMap(entriesOf);
  const everything = entries.map((entry, index) => `import * as part${index} from "${entry}";`);
  const all = `[${entries.map((_, index) => `part${index}`).join(", ")}]`;
  const manifest = {
    name: "project",
    private: true,
    type: "module",
    dependencies: { ...(await neededBeside()), ...tarballs },
  };
  const files = {
    "package.json": JSON.stringify(manifest),
    // Our own packages are not on npm before the release that this checks.
    "pnpm-workspace.yaml": JSON.stringify({ packages: [], overrides: tarballs }),
    "main.ts": `${everything.join("\n")}\nconst parts: object[] = ${all};\nexport { parts };\n`,
    "main.mjs": `${everything.join("\n")}\nif (${all}.some((part) => Object.keys(part).length === 0)) throw new Error("an entry exports nothing");\n`,
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        module: "nodenext",
        target: "es2022",
        types: ["node"],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
      },
      files: ["main.ts"],
    }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
  try {
    await pnpm(["install", "--prefer-offline", "--ignore-scripts"], project);
  } catch (error) {
    return failuresOf([{ status: "rejected", reason: error }]);
  }
  const tsc = join(
    dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")),
    "bin/tsc",
  );
  return failuresOf(
    await Promise.allSettled([
      run(process.execPath, ["main.mjs"], { cwd: project }),
      run(process.execPath, [tsc, "-p", "."], { cwd: project }),
    ]),
  );
}

/** What a user brings along: the peers, at the versions that we test with, and the types of what we show. */
async function neededBeside() {
  const needed = {};
  const versions = JSON.parse(await readFile(join(root, "package.json"), "utf8")).devDependencies;
  for (const name of ["@types/node", "@types/pg"]) needed[name] = versions[name];
  for (const { manifest } of packages) {
    for (const peer of Object.keys(manifest.peerDependencies ?? {})) {
      const version = manifest.devDependencies?.[peer];
      needed[peer] = version?.startsWith("workspace:")
        ? undefined
        : (version ?? manifest.peerDependencies[peer]);
    }
  }
  return needed;
}
