import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { commandHelp, commandNames } from "@svc/cli";
import { operationalEventTypes } from "@svc/core";
import { describe, expect, test } from "vitest";
import { anchorsOf, codeBlocksOf, codeSpansOf, linksOf, tableRowsOf } from "./markdown.ts";
import { listFiles, readSources, readText, root } from "./source.ts";

const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  ...[...listFiles("docs"), ...listFiles("packages"), ...listFiles("test")].filter(isMarkdown),
];
const sources = readSources("packages", "bench", "test", "gen/src");
const protos = listFiles("proto/svc/v1").map((path) => ({ path, text: readText(path) }));

function isMarkdown(path: string): boolean {
  return path.endsWith(".md");
}

/** HTTP status of each error code in the Connect protocol. */
const statuses: Record<string, string> = {
  invalid_argument: "400",
  unauthenticated: "401",
  permission_denied: "403",
  not_found: "404",
  already_exists: "409",
  failed_precondition: "400",
  resource_exhausted: "429",
  unimplemented: "501",
  internal: "500",
  unavailable: "503",
  deadline_exceeded: "504",
};

test("README.md has one picture, below 150 KB", () => {
  const shown = [...readText("README.md").matchAll(/!\[[^\]]+\]\(([^)]+\.png)\)/g)].map(([, path = ""]) => path);
  expect(shown).toHaveLength(1);
  expect(shown.filter((path) => statSync(join(root, path)).size >= 150_000)).toEqual([]);
});

describe("errors", async () => {
  /** Maps an error reason to its code, as one source states it. A reason with two codes is an error. */
  type Reasons = Map<string, string>;

  function collect(entries: Iterable<readonly [reason: string, code: string]>): Reasons {
    const reasons: Reasons = new Map();
    for (const [reason, code] of entries) {
      expect(reasons.get(reason) ?? code, `${reason} has one code`).toBe(code);
      reasons.set(reason, code);
    }
    return reasons;
  }

  /** Reads the reasons from comments of the contract, `- code REASON: when`. jobs.proto is left out. */
  function reasonsOfProto(): Reasons {
    const served = protos.filter(({ path }) => !path.endsWith("/jobs.proto"));
    return collect(
      served.flatMap(({ text }) =>
        [...text.matchAll(/^\s*\/\/ - ([a-z_]+) ([A-Z_]+):/gm)].map(([, code = "", reason = ""]) => [reason, code]),
      ),
    );
  }

  /** Lists the reasons of faults in a program or in the definition around it. Each is raised by its code, and one type lists all codes. */
  function reasonsOfPrograms(): [string, string][] {
    const [, union = ""] =
      /export type ProgramFaultCode =([^;]*);/.exec(readText("packages/program/src/faults.ts")) ?? [];
    const [, definitions = ""] =
      /type DefinitionFaultCode =([^;]*);/.exec(readText("packages/standing/src/definition/faults.ts")) ?? [];
    const reasons = [union, definitions].flatMap((text) => text.match(/[A-Z_]{4,}/g) ?? []);
    return reasons.map((reason) => [reason, "invalid_argument"]);
  }

  /** A function that creates a table of faults. */
  type Maker = { readonly reason: string; readonly code: string };

  const isMaker = (value: unknown): value is Maker =>
    typeof value === "function" && "reason" in value && "code" in value;

  /** Every table of faults that a package exports. */
  const tables = sources.filter(({ path, text }) => {
    return /^packages\/\w+\/src\//.test(path) && !/test/.test(path) && /= defineFaults\(/.test(text);
  });
  const makers = await Promise.all(
    tables.map(async ({ path }) => {
      const exported: Readonly<Record<string, unknown>> = await import(join(root, path));
      return Object.values(exported).flatMap((table) => Object.values(table ?? {}).filter(isMaker));
    }),
  );

  function reasonsOfCode(): Reasons {
    return collect([...reasonsOfPrograms(), ...makers.flat().map(({ reason, code }) => [reason, code] as const)]);
  }

  test("every table of faults is exported, and its makers are found", () => {
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.filter((_table, index) => makers[index]?.length === 0)).toEqual([]);
  });

  const methods = protos.flatMap(({ text }) => [...text.matchAll(/^ {2}rpc (\w+)\(/gm)].map(([, name = ""]) => name));

  test("the calls that texts name are those of the contract", () => {
    const named = sources
      .filter(({ path }) => /^packages\/\w+\/src\//.test(path) && !/\.test\.ts$/.test(path))
      .flatMap(({ text }) => [...text.matchAll(/\bcall\("([A-Za-z]+)"/g)].map(([, name = ""]) => name));
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter((name) => !methods.includes(name))).toEqual([]);
  });

  test("no table of faults names a call but as one, so that every surface can name it in its own words", () => {
    const plain = new RegExp(`(?<!call\\("|Service[./"])\\b(?:${methods.join("|")})\\b(?!")`);
    const naming = tables.flatMap(({ path, text }) => {
      const lines = text.split("\n").filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && plain.test(line));
      return lines.map((line) => `${path}: ${line.trim()}`);
    });
    expect(naming).toEqual([]);
  });

  // Reasons that are answered with a more specific HTTP status than that of their code.
  const closer: Record<string, string> = {
    METHOD_NOT_ALLOWED: "405",
    CONTENT_TYPE_UNSUPPORTED: "415",
    CONTENT_ENCODING_UNSUPPORTED: "415",
    CALL_UNKNOWN: "404",
    BODY_TOO_LARGE: "429, on `/webhooks/` 413",
  };

  /** Returns the table row of a reason. Reason, code and status come from the code; the other cells keep their text. */
  function rowOf(reason: string, code: string, line = "|"): string {
    const cells = line.split(/(?<!\\)\|/);
    const said = [`\`${reason}\``, `\`${code}\``, closer[reason] ?? statuses[code] ?? ""];
    const isSame = said.every((text, index) => cells[index + 1]?.trim() === text);
    const [when = "  ", advice = "  "] = cells.slice(4);
    return isSame ? line : `| ${said.join(" | ")} |${when}|${advice}|`;
  }

  const errorPages = listFiles("docs/reference/errors").filter(isMarkdown);
  const lastPage = "docs/reference/errors/administration.md";

  /**
   * Returns the pages with exactly one row for each reason of the code. New rows are at the end of one page, from which a person moves them
   * to their area.
   */
  function pagesOfCode(): Map<string, string> {
    const left = reasonsOfCode();
    const written = errorPages.map((path) => {
      const lines = readText(path)
        .split("\n")
        .flatMap((line) => {
          const [, reason = ""] = /^\| `([A-Z_]+)` +\| `[a-z_]+` /.exec(line) ?? [];
          const code = left.get(reason);
          if (reason === "" || statuses[code ?? ""] === undefined) return reason === "" ? [line] : [];
          left.delete(reason);
          return [rowOf(reason, code ?? "", line)];
        });
      return [path, lines] as const;
    });
    return new Map(
      written.map(([path, lines]) => {
        const end = lines.findLastIndex((line) => line.startsWith("|")) + 1;
        const added = path === lastPage ? sorted(left).map(([reason, code]) => rowOf(reason, code)) : [];
        return [path, lines.toSpliced(end, 0, ...added).join("\n")];
      }),
    );
  }

  test("docs/reference/errors has the reasons of the code, their codes and statuses; `vitest -u` writes those columns", async () => {
    for (const [path, text] of pagesOfCode()) await expect(text).toMatchFileSnapshot(`../${path}`);
    const rows = errorPages
      .flatMap((path) => tableRowsOf(readText(path)))
      .filter(([reason = "", code = ""]) => /^`[A-Z_]+`$/.test(reason) && /^`[a-z_]+`$/.test(code));
    expect(rows.filter((cells) => cells.length !== 5 || cells.includes(""))).toEqual([]);
  });

  test("every reason that the contract names is raised with the code it names", () => {
    const raised = reasonsOfCode();
    const wrong = [...reasonsOfProto()].filter(([reason, code]) => raised.get(reason) !== code);
    expect(wrong).toEqual([]);
  });

  function sorted(reasons: Reasons): [string, string][] {
    return [...reasons].sort(([a], [b]) => (a < b ? -1 : 1));
  }
});

/** Every word of the sources, the contract and the configuration of the tools. */
const words = new Set(
  [
    ...[...sources, ...protos].map(({ text }) => text),
    ...[
      "package.json",
      "pnpm-workspace.yaml",
      "biome.json",
      "tsconfig.json",
      ...listFiles("scripts"),
      ...listFiles("deploy"),
    ].map(readText),
  ].flatMap((text) => text.match(/[A-Za-z_]\w+/g) ?? []),
);

describe.each(pages)("%s", (page) => {
  const text = readText(page);

  test("links lead somewhere", () => {
    expect(linksOf(text).filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target))).toEqual([]);
  });

  test("cited files exist", () => {
    const folders = /^(?:packages|proto|gen|docs|scripts|test|bench|toolkits|\.ci)\/[\w./-]+$/;
    const cited = codeSpansOf(text).filter((span) => folders.test(span));
    expect(cited.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("cited names exist", () => {
    // Names of code and of the store have mixed case or underscores. Other such names belong to PostgreSQL, to Node, or are variables that
    // definitions name.
    const isName = (span: string) => /^[A-Za-z]\w*$/.test(span) && /[a-z][A-Z]|[A-Za-z]_[A-Za-z]/.test(span);
    const cited = codeSpansOf(text).filter((span) => isName(span) && !/^(?:pg_|NODE_|SVC_WEBHOOK_SECRET_)/.test(span));
    expect([...new Set(cited)].filter((name) => !words.has(name))).toEqual([]);
  });

  test("cited npm scripts exist", () => {
    const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
    const builtIn = new Set(["install", "ci", "pack"]);
    const cited = [...codeSpansOf(text), ...codeBlocksOf(text).map((block) => block.text)]
      .flatMap((span) => [...span.matchAll(/\bnpm (?:run (?:-s )?)?([a-z][a-z0-9:]*)/g)])
      .map(([, name = ""]) => name)
      .filter((name) => !builtIn.has(name));
    expect(cited.filter((name) => scripts[name] === undefined && !existsIn("packages/sdk/package.json", name))).toEqual(
      [],
    );
  });

  test("no place for an output is left empty", () => {
    expect(text.match(/<!-- output: [\w-]+ -->\n(?!\n?```)/g) ?? []).toEqual([]);
  });
});

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || anchorsOf(readText(file)).includes(anchor);
}

function existsIn(packageFile: string, script: string): boolean {
  return (JSON.parse(readText(packageFile)) as { scripts?: Record<string, string> }).scripts?.[script] !== undefined;
}

test("docs/reference/metrics.md lists the metrics of the service, all of them and no others", () => {
  const files = [
    "packages/server/src/metrics/metrics.ts",
    "packages/server/src/metrics/engines.ts",
    "packages/server/src/metrics/embeddings.ts",
    "packages/server/src/metrics/gauges.ts",
    "packages/server/src/metrics/toolkits.ts",
    "packages/server/src/admission/project-metrics.ts",
  ];
  const names = files.flatMap((file) => [...readText(file).matchAll(/name: "(svc_\w+)"/g)]);
  const rows = tableRowsOf(readText("docs/reference/metrics.md"));
  const listed = rows.flatMap(([cell = ""]) => /^`(svc_\w+)`$/.exec(cell)?.[1] ?? []);
  expect(listed.toSorted()).toEqual([...names].map(([, name = ""]) => name).toSorted());
  expect(rows.filter((cells) => cells.length !== 4 || cells[3] === "")).toEqual([]);
});

test("docs/reference/operational-events.md lists the types of operational events, all of them and no others", () => {
  const rows = tableRowsOf(readText("docs/reference/operational-events.md"));
  const listed = rows.filter(([name = ""]) => name.startsWith("`svc."));
  const declared = Object.entries(operationalEventTypes);
  expect(listed).toEqual(declared.map(([name, { description, once }]) => [`\`svc.${name}\``, description, once]));
});

test("docs/reference/schedules/polls.md names the tools whose new rows a poll finds, all of them and no others, by how", () => {
  const files = listFiles("toolkits").filter((path) => /^toolkits\/\w+\/tools\/\w+\.yaml$/.test(path));
  const declared = files.flatMap((path) => {
    const poll = /^poll:(.*?)(?=^\S|$(?![\s\S]))/ms.exec(readText(path))?.[1];
    const [, toolkit, , tool = ""] = path.split("/");
    return poll === undefined
      ? []
      : [`${/cursor:\s*\{ kind: (\w+)/.exec(poll)?.[1]} ${toolkit}.${tool.replace(".yaml", "")}`];
  });
  const rows = tableRowsOf(readText("docs/reference/schedules/polls.md")).filter(([kind = ""]) =>
    /^`(after|newest|seen|token)`$/.test(kind),
  );
  const told = rows.flatMap(([kind = "", , tools = ""]) =>
    tools.split(", ").map((tool) => `${kind} ${tool}`.replaceAll("`", "")),
  );
  expect(told.toSorted()).toEqual(declared.toSorted());
});

test("docs/reference/tables.md names every table of the store", () => {
  const tables = readSources("packages/db/src/schema").flatMap(({ text }) =>
    [...text.matchAll(/pgTable\(\s*"(\w+)"/g)].map(([, name = ""]) => name),
  );
  const cited = new Set(codeSpansOf(readText("docs/reference/tables.md")));
  expect(tables.filter((name) => !cited.has(name))).toEqual([]);
});

test("cited commands of svc and their options exist", () => {
  const commands = pages.flatMap((page) => {
    const text = readText(page);
    return [...codeSpansOf(text), ...codeBlocksOf(text).map((block) => block.text.replaceAll("\\\n", " "))].flatMap(
      (span) =>
        [...span.matchAll(/(?:npx svc|npm run -s svc --) ([^\n|;&)`]+)/g)].map(([, command = ""]) => ({
          page,
          command,
        })),
    );
  });
  const names = [...commandNames(), ...commandHelp().flatMap(({ aliases }) => aliases)];
  const files = readSources("packages/cli/src").map((file) => file.text);
  const has = (pattern: RegExp) => files.some((text) => pattern.test(text));
  const faults = commands.flatMap(({ page, command }) => {
    const words = command.trim().split(/\s+/);
    const options = words.filter((word) => word.startsWith("--") && word !== "--help");
    const missing = options.filter((option) => !has(new RegExp(`["\`\\s]${option}[ "]`)));
    const wrong = isCommand(names, words) ? [] : words.slice(0, 2);
    return [...wrong, ...missing].map((word) => `${page}: ${word} in "${command.trim()}"`);
  });
  expect(commands.length).toBeGreaterThan(0);
  expect(faults).toEqual([]);
});

/**
 * True if the words begin with a command. After a group such as `jobs`, the second word must name one of the group's commands, unless it is
 * an option.
 */
function isCommand(names: readonly string[], [group = "", member = ""]: readonly string[]): boolean {
  if (group.startsWith("-")) return true;
  const isGroup = names.some((name) => name.startsWith(`${group} `));
  return names.includes(isGroup && /^[a-z]/.test(member) ? `${group} ${member}` : group);
}

describe("the documentation", () => {
  const docs = listFiles("docs").filter((path) => isMarkdown(path) && existsSync(join(root, path)));

  test.each(docs)("%s is short, has one title, and says first what it is for", (path) => {
    const text = readText(path);
    const lines = text.replace(/^```[\s\S]*?^```$/gm, "").split("\n");
    expect(lines.filter((line) => line.startsWith("# "))).toHaveLength(1);
    expect(text.startsWith("# ")).toBe(true);
    expect(lines.find((line, index) => index > 0 && line !== "")).toMatch(/^[A-Za-z`[*]/);
    // The page of calls has a row for each call of the contract, so it grows with the contract.
    const linesMax = path === "docs/reference/calls-and-commands.md" ? 300 : 250;
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(linesMax);
  });

  test("names of pages are lower case with hyphens", () => {
    expect(docs.filter((path) => !/^docs\/(?:[a-z0-9-]+\/)*[a-z0-9-]+\.md$/.test(path))).toEqual([]);
  });
});
