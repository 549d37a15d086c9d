import { existsSync, readdirSync } from "node:fs";
import { join, normalize } from "node:path";
import { expect, test } from "vitest";
import { codeOf, importsOf, listFiles, readSources, readText, root, type SourceFile } from "./source.ts";

/** The workspace packages that each package may import. A package imports only packages above it in this table. */
const allowedImports: Record<string, readonly string[]> = {
  gen: [],
  core: [],
  db: ["core"],
  catalog: ["gen", "core", "db"],
  connections: ["gen", "core", "db", "catalog"],
  tools: ["gen", "core", "db", "catalog", "connections"],
  sandbox: ["core", "catalog", "connections"],
  delivery: ["core", "db", "connections"],
  program: ["core", "catalog"],
  triggers: ["gen", "core", "db", "catalog", "tools", "delivery", "program"],
  asks: ["gen", "core", "db", "catalog", "tools", "delivery", "program"],
  jobs: ["gen", "core", "db", "catalog", "connections", "tools", "delivery", "program", "asks"],
  standing: ["gen", "core", "db", "catalog", "tools", "program", "jobs"],
  node: [
    "gen",
    "core",
    "db",
    "catalog",
    "connections",
    "tools",
    "sandbox",
    "delivery",
    "triggers",
    "program",
    "asks",
    "jobs",
    "standing",
  ],
  console: ["gen", "core"],
  site: [],
  // The adapters of the server know the domain packages only through the node. The catalog is the exception, because it is read before
  // there is a node.
  server: ["gen", "core", "db", "catalog", "node", "console", "site"],
  sdk: ["gen", "core"],
  // The command line checks and samples definitions without a server, and the server's configuration names the folder of a local one.
  cli: ["gen", "core", "catalog", "server", "sdk"],
  testing: [
    "gen",
    "core",
    "db",
    "catalog",
    "connections",
    "tools",
    "delivery",
    "triggers",
    "program",
    "asks",
    "jobs",
    "standing",
    "node",
    "server",
  ],
};

/** Tests and code that only tests use. */
const testing = String.raw`^test/|^packages/testing/|^packages/db/plans/|/test-[^/]+\.ts$|/test-[^/]+/|/testing\.ts$|\.(?:test|fixture)\.ts$`;

/**
 * Files of the domain packages that may use API messages: those that implement the methods of services, and those that create their
 * messages.
 */
const wireAdapters = String.raw`^packages/(?:catalog|connections|tools|triggers|asks|standing)/src/(?:[a-z-]+/)?(?:service|convert)(?:/[^/]+|-[a-z-]+)?\.ts$|^packages/jobs/src/api/[^/]+\.ts$|^packages/node/src/(?:sandbox-service|services)\.ts$`;

function except(...places: string[]): RegExp {
  return new RegExp(places.join("|"));
}

/** Modules with side effects on the outside that only some files may import. */
const reservedModules: { modules: RegExp; allowedIn: RegExp; why: string }[] = [
  {
    modules: /^(?:drizzle-orm|postgres)(?:\/|$)/,
    allowedIn: except("^packages/db/", "^bench/"),
    why: "SQL is written in packages/db; bench/ needs a client of its own to measure against",
  },
  {
    modules: /^node:https?2?$/,
    allowedIn: except("^packages/server/", "^packages/cli/src/custom/listen/", "^bench/", testing),
    why: "packages/server listens, and `svc listen`; tests and measurements play endpoints and providers",
  },
  {
    modules: /^undici(?:\/|$)/,
    allowedIn: except(
      "^packages/(?:core|delivery|connections)/",
      "^packages/cli/src/custom/listen/",
      "^bench/",
      testing,
    ),
    why: "outbound connections go through the address guard of packages/core; `svc listen` forwards to its user's address",
  },
  {
    modules: /^@svc\/server$/,
    allowedIn: except("^packages/cli/src/custom/serve\\.ts$", testing),
    why: "the command line speaks through the client of packages/sdk; `svc serve` alone is the server",
  },
  {
    modules: /^@svc\/core(?!\/(?:app-check|time|duration|exact-json|fault-text|number-text|raw-json)$)/,
    allowedIn: except("^packages/(?!sdk/|console/)", "^bench/", testing),
    why: "of core, client and console take the readers of times, numbers, parts of texts and answers of apps alone, which run anywhere",
  },
  {
    modules: /^@svc\/[^/]+\/testing$/,
    allowedIn: except("^bench/", testing),
    why: "what a package opens to tests alone is no part of the product",
  },
  {
    modules: /^@connectrpc\//,
    allowedIn: except("^packages/(?!cli/)[^/]+/", "^bench/", testing),
    why: "the command line speaks through the client of packages/sdk",
  },
  {
    modules: /^(?:@connectrpc\/connect|@bufbuild\/protobuf|@svc\/gen)(?:\/|$)/,
    allowedIn: except("^packages/(?:server|sdk|cli|console)/", "^bench/", wireAdapters, testing),
    why: "the domain has its own words, which its service adapters alone turn into messages of the contract",
  },
  {
    modules: /^(?:@ariakit|@codemirror|@dagrejs|@lezer|uplot|@tanstack\/react-virtual)(?:\/|$)/,
    allowedIn: except("^packages/console/src/ui/"),
    why: "what the console is drawn with stays behind its own parts, so that it can be changed in one place",
  },
  {
    modules: /^(?:playwright-core|axe-core)(?:\/|$)/,
    allowedIn: except("^test/(?:console|site)/"),
    why: "a browser is started by its tests alone",
  },
];

/** Code that reads parts of a time, or formats a time, in the time zone of the process. */
const localTime =
  /\.(?:get|set)(?:FullYear|Year|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds|TimezoneOffset)\(|\.to(?:Locale)?(?:Date|Time)String\(|\.toLocaleString\(\s*\)|\bIntl\s*\.\s*DateTimeFormat\((?![^;]*\btimeZone\b)/;

/** Code that only some files may contain. Tests may use `nondeterminism`, since they inject it where a guarantee depends on it. */
const reservedCode: { what: string; code: RegExp; allowedIn: RegExp; why: string }[] = [
  {
    what: "nondeterminism",
    code: /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/,
    allowedIn: except("^packages/core/", "^bench/", testing),
    why: "time comes through a Clock and randomness through core, so that tests can set them",
  },
  {
    what: "the wire's errors",
    code: /\b(?:ConnectError|ErrorDetailSchema|findDetails)\b/,
    allowedIn: except("/rpc/connect-error\\.ts$", "^packages/(?:cli|sdk|console)/", "^bench/", testing),
    why: "the domain's errors are Faults, which one file of packages/server writes as errors of the wire",
  },
  {
    what: "console",
    code: /\bconsole\s*\.\s*[a-z]+\s*\(/,
    allowedIn: /^$/,
    why: "what is logged goes through the logger, what a command prints through process.stdout",
  },
  {
    what: "the process environment",
    code: /\bprocess\.env\b/,
    allowedIn: except("^packages/server/src/config/", "^bench/", testing),
    why: "configuration is read in one place and handed down",
  },
  {
    what: "mocked modules",
    code: /\bvi\s*\.\s*(?:mock|doMock|stubGlobal)\b/,
    allowedIn: /^$/,
    why: "tests run the real parts; what is outside the process is played by a real server",
  },
  {
    what: "a write of a page that a double press would make twice",
    code: /\buseMutation\b/,
    allowedIn: /^packages\/console\/src\/calls\/write\.ts$/,
    why: "useWrite makes a call once, however often its button is pressed",
  },
  {
    what: "a file that is loaded later, without an answer to a failed load",
    code: /\blazy\s*\(|(?<!\btypeof |\b(?:laterPart\(|page\([^;]*?)(?:async )?\(\) =>\s*(?:\(\{ default: \(await )?)\bimport\(/,
    // `later.ts` and `live.ts` load again after a pause. The others show a message of their own.
    allowedIn: except(
      "^(?!packages/console/src/)",
      "^packages/console/src/(?:ui/overlay/later\\.ts|shell/live\\.ts|builder/gallery-button\\.tsx|pages/toolkits/definition-files\\.ts)$",
    ),
    why: "without a connection the page would go blank: `laterPart` shows a message with a button that loads the file again",
  },
  {
    what: "another isObject",
    code: /typeof (\w+) === "" && \1 !== null && !Array\.isArray\(\1\)/,
    // The text of each string is removed before the search, so the pattern has empty ones. Client and console are exempt, because they
    // import only gen.
    allowedIn: except("^packages/(?:core|sdk|console)/"),
    why: "whether a value is a JSON object says `isObject` of packages/core, which knows numbers of many digits",
  },
  {
    what: "another isoTime",
    code: /\bnew Date\((?:[^()]|\([^()]*\))+\)\.toISOString\(/,
    allowedIn: except("^packages/core/src/time/", "^bench/", testing),
    why: "`isoTime` of packages/core writes times, and knows those that it wrote last",
  },
  {
    what: "a time that a Date reads",
    code: /\bDate\s*(?:\.\s*parse\b|\[)|\bnew\s+Date\s*\(\s*[^)\s]|(?<!\bnew\s+|[.\w])\bDate\s*\(|\b(?:const|let)\s+\w+\s*=\s*Date\s*[;,]/,
    allowedIn: except("^bench/", testing),
    why: "a Date reads texts in the zone of the process and makes 2 March of 30 February: `readTime`, `readHttpDate` and `dateOf` of core",
  },
  {
    what: "the zone of the process",
    code: localTime,
    allowedIn: except("^bench/", testing),
    why: "two nodes of different zones would disagree: take the UTC parts, or name the zone",
  },
  {
    what: "a look by `in` for a name that is computed",
    code: /(?:[(!?=&|]|=>|return)\s*[A-Za-z_$][\w.]* in [a-z][\w.]*\s*[)?;&|\n]/,
    allowedIn: except("^bench/", testing),
    why: "every object has a constructor and a toString: `Object.hasOwn`, or a Map, says what an object was given",
  },
  {
    what: "a text of a fault that is parsed",
    code: /\b(?:rawMessage|help|hint)\)?\s*\.(?:match|matchAll|replace|replaceAll|search|split|startsWith|includes|indexOf)\(|\.(?:exec|test)\((?:\w+\.)*(?:rawMessage|help|hint)\b/,
    allowedIn: except("^bench/", testing),
    why: "a text is for people: what a surface says in its own words is a part of it (`call`, `field`, `wait` of core)",
  },
  {
    what: "`export *`",
    code: /^export \*/m,
    allowedIn: /^$/,
    why: "an index lists what it exports",
  },
];

/** Files that break one of the rules above, with the reason. */
const exceptions: { file: string; code: string; why: string }[] = [
  {
    file: "packages/sdk/src/clock.ts",
    code: "nondeterminism",
    why: "the client depends on gen alone, so it brings a clock",
  },
  {
    file: "packages/console/src/clock.ts",
    code: "nondeterminism",
    why: "the page shows how long ago something was, by the browser's clock",
  },
  {
    file: "packages/console/src/random.ts",
    code: "nondeterminism",
    why: "idempotency keys are made in the browser",
  },
  {
    file: "packages/console/src/pages/subscriptions/verify-snippet.ts",
    code: "the process environment",
    why: "it writes TypeScript for others, whose receiver has the secret in a variable",
  },
  {
    file: "packages/console/src/pages/tools/try/snippets.ts",
    code: "the process environment",
    why: "it writes TypeScript for others, whose program has the key in a variable",
  },
  {
    file: "packages/console/vite.config.ts",
    code: "the process environment",
    why: "the development server is told which service it stands before",
  },
  {
    file: "packages/core/src/time/iso-time.ts",
    code: "a time that a Date reads",
    why: "`dateOf` makes a Date of a number alone",
  },
  {
    file: "packages/console/src/words/time.ts",
    code: "the zone of the process",
    why: "the console shows times by the clock of the browser where its user wants that",
  },
  {
    file: "packages/cli/src/main.ts",
    code: "the process environment",
    why: "TZ is set to UTC, before anything is loaded",
  },
  {
    file: "packages/cli/src/command/error.ts",
    code: "a text of a fault that is parsed",
    why: "what the runtime says of a port that it does not dial, before any service answers",
  },
  { file: "packages/db/src/embedded/initialize.ts", code: "nondeterminism", why: "the password of a new database" },
  { file: "packages/db/src/embedded/binaries.ts", code: "nondeterminism", why: "the name of an unfinished copy" },
  {
    file: "packages/db/src/embedded/data-folder.ts",
    code: "the process environment",
    why: "the child PostgreSQL gets PATH alone",
  },
  {
    file: "packages/cli/src/command/context.ts",
    code: "the process environment",
    why: "TERM tells what the terminal can draw, and configures nothing",
  },
  {
    file: "packages/cli/src/start.ts",
    code: "the process environment",
    why: "the C library reads its settings there, before a line of the program runs",
  },
];

const packages = readdirSync(join(root, "packages")).filter((name) =>
  existsSync(join(root, "packages", name, "package.json")),
);
const files = readSources("packages", "bench", "test");

/** Returns the package folder of a file under packages/, or undefined. */
function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

function isReserved(file: SourceFile, rule: { allowedIn: RegExp }, what?: string): boolean {
  return (
    !rule.allowedIn.test(file.path) && !exceptions.some(({ file: path, code }) => path === file.path && code === what)
  );
}

test("the matrix is a ladder and covers every package", () => {
  const order = Object.keys(allowedImports);
  expect(order.toSorted()).toEqual(["gen", ...packages].toSorted());
  for (const [name, allowed] of Object.entries(allowedImports)) {
    for (const lower of allowed) expect(order.indexOf(lower), `${name} -> ${lower}`).toBeLessThan(order.indexOf(name));
  }
});

test.each(packages)("packages/%s depends on no workspace package but its lower ones", (name) => {
  const {
    dependencies = {},
    devDependencies = {},
    peerDependencies = {},
  } = JSON.parse(readText(`packages/${name}/package.json`));
  const workspaceOf = (declared: object) =>
    Object.keys(declared).flatMap((dependency) => /^@svc\/(.+)$/.exec(dependency)?.[1] ?? []);
  const workspace = workspaceOf({ ...dependencies, ...peerDependencies });
  expect(workspace.filter((dependency) => !allowedImports[name]?.includes(dependency))).toEqual([]);
  // Tests may import packages/testing, which imports every package.
  const forTests = workspaceOf(devDependencies).filter((dependency) => dependency !== "testing");
  expect(forTests.filter((dependency) => !allowedImports[name]?.includes(dependency))).toEqual([]);
});

test.each(packages)("packages/%s imports no workspace package but its lower ones, and none by its path", (name) => {
  const faults = files
    .filter((file) => packageOf(file.path) === name)
    .flatMap((file) => importsOf(file.text).flatMap((module) => importFault(file.path, name, module)));
  expect(faults).toEqual([]);
});

function importFault(path: string, name: string, module: string): string[] {
  if (module.startsWith(".")) {
    const target = normalize(join(path, "..", module));
    return target.startsWith(`packages/${name}/`) ? [] : [`${path}: ${module} leaves the package`];
  }
  const [, target] = /^@svc\/([^/]+)/.exec(module) ?? [];
  if (target === undefined || target === name || allowedImports[name]?.includes(target)) return [];
  if (target === "testing" && new RegExp(testing).test(path)) return [];
  return [`${path}: ${module} is not below ${name}`];
}

test("test/ and bench/ import packages by their names", () => {
  const faults = files
    .filter(({ path }) => packageOf(path) === undefined)
    .flatMap(({ path, text }) => importsOf(text).map((module) => ({ path, module })))
    .filter(
      ({ path, module }) => module.startsWith(".") && /^(?:packages|gen)\//.test(normalize(join(path, "..", module))),
    );
  expect(faults).toEqual([]);
});

test.each(reservedModules)("$modules is imported only where $allowedIn", ({ modules, allowedIn, why }) => {
  const faults = files
    .filter((file) => isReserved(file, { allowedIn }) && importsOf(file.text).some((module) => modules.test(module)))
    .map((file) => file.path);
  expect(faults, why).toEqual([]);
});

test.each(reservedCode)("$what is used only where $allowedIn", ({ what, code, allowedIn, why }) => {
  const faults = files
    .filter((file) => isReserved(file, { allowedIn }, what) && code.test(codeOf(file.text)))
    .map((file) => file.path);
  expect(faults, why).toEqual([]);
});

const laterFile = "a file that is loaded later, without an answer to a failed load";

/** Sample code for each of these rules, and whether the rule must find it. */
const planted: readonly (readonly [what: string, code: string, isFound: boolean])[] = [
  ...[
    "const Part = lazy(() => import('./part.tsx'));",
    "const load = () => import('./part.tsx');",
    "onPress={async () => (await import('./part.ts')).act()}",
  ].map((code) => [laterFile, code, true] as const),
  ...[
    "const Part = laterPart(() => import('./part.tsx'), Failed);",
    "const Part = laterPart(async () => ({ default: (await import('./parts.tsx')).Part }));",
    "const home = page(project, 'home', () => import('./home.tsx'), readSearch);",
    "type Parts = typeof import('./parts.tsx');",
  ].map((code) => [laterFile, code, false] as const),
  ...[
    "Date.parse(text)",
    "const read = Date.parse;",
    "[].map(Date . parse)",
    'Date["parse"](text)',
    "new Date(text)",
    "new Date(text).getTime()",
    "new Date(2026, 0, 1)",
    'new Date("2026-01-01")',
    "new Date(\n  text,\n)",
    "Date(text)",
    "const Time = Date;",
  ].map((code) => ["a time that a Date reads", code, true] as const),
  ...["dateOf(ms)", "readTime(text)", "Date.UTC(2026, 0)", "readHttpDate(text)", "type At = Date;", "update(text)"].map(
    (code) => ["a time that a Date reads", code, false] as const,
  ),
  ...[
    "at.getHours()",
    "at.getDay()",
    "at.getFullYear()",
    "at.getTimezoneOffset()",
    "at.setHours(0, 0, 0, 0)",
    "at.toLocaleDateString()",
    'at.toLocaleTimeString("en")',
    "at.toLocaleString()",
    "at.toDateString()",
    "at.toTimeString()",
    'new Intl.DateTimeFormat("en", { hour: "numeric" })',
    "Intl.DateTimeFormat()",
  ].map((code) => ["the zone of the process", code, true] as const),
  ...[
    "at.getUTCHours()",
    "at.setUTCFullYear(1)",
    'count.toLocaleString("en")',
    "at.toISOString()",
    'new Intl.DateTimeFormat("en", { timeZone })',
    'new Intl.DateTimeFormat("en", {\n  timeZone: zone,\n})',
    "at.getTime()",
  ].map((code) => ["the zone of the process", code, false] as const),
  ...[
    "err.rawMessage.replace(a, b)",
    "pattern.exec(detail.help)",
    "plainText(help).replace(a, b)",
    "hint.split(a)",
  ].map((code) => ["a text of a fault that is parsed", code, true] as const),
  ...["renderText(help, write)", "help.parts.map(nameOf)", "program.help()", "text.replace(a, b)"].map(
    (code) => ["a text of a fault that is parsed", code, false] as const,
  ),
];

test.each(planted)("the rule on %s tells whether it is broken by: %s", (what, code, isFound) => {
  const rule = reservedCode.find((one) => one.what === what);
  expect(rule?.code.test(codeOf(code))).toBe(isFound);
});

test("every exception is still needed", () => {
  const idle = exceptions.filter(({ file, code: what }) => {
    const rule = reservedCode.find((entry) => entry.what === what);
    return !existsSync(join(root, file)) || !rule?.code.test(codeOf(readText(file)));
  });
  expect(idle).toEqual([]);
});

test("texts of the service name no option of the command line, which names its own", () => {
  // Matches a command-line option inside a quoted text, outside of comments.
  const option = /^(?!\s*(?:\/\/|\/?\*)).*["'`][^"'`]*(?<![\w<!-])--[a-z][a-z-]*\b/;
  const speakers = files.filter(({ path }) => {
    return (
      /^packages\/(?!cli\/|console\/|testing\/)[a-z]+\/src\//.test(path) &&
      // These folders start processes, which need options.
      !/^packages\/(?:db\/src\/embedded|server\/src\/processes)\//.test(path) &&
      !/(?:\.test|\/test-[a-z-]+)\.tsx?$/.test(path)
    );
  });
  expect(speakers.length).toBeGreaterThan(500);
  const naming = speakers.flatMap(({ path, text }) => {
    return text
      .split("\n")
      .flatMap((line, index) => (option.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []));
  });
  expect(naming).toEqual([]);
  expect(option.test('  hint: "give --entity",')).toBe(true);
});

test("file names are kebab-case and none is a drawer for everything", () => {
  const paths = ["packages", "bench", "test", "scripts"]
    .flatMap(listFiles)
    .filter((path) => /\.(?:tsx?|css|mjs)$/.test(path));
  const isPlain = (path: string) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(path.split("/").at(-1) ?? "");
  const isDrawer = (path: string) => /\/(?:utils?|helpers?|common|manager|misc)(?:[.-]|\/)/.test(path);
  expect(paths.filter((path) => !isPlain(path) || isDrawer(path))).toEqual([]);
});

test("the scanner sees imports of every form and code inside templates, and nothing in comments, strings and patterns", () => {
  const sample = [
    'import type { A } from "a";',
    "import {\n  b,\n} from 'b';",
    'export { c } from "c";',
    'import "d";',
    'const e = await import("e");',
    '// import "no"; Date.now()',
    '/* import "no"; */ const text = "Date.now() // no";',
    'const pattern = /"Math.random/;',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
    "const when = `at ${randomUUID()} // here`;",
  ].join("\n");
  expect(importsOf(sample)).toEqual(["a", "b", "c", "d", "e"]);
  expect(codeOf(sample)).toMatch(/randomUUID/);
  expect(codeOf(sample)).not.toMatch(/Date\.now|Math\.random/);
});
