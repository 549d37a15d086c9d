import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fillInput, loadCatalog, loadDeployment, renderRequest } from "@svc/catalog";
import { parseTemplate, renderTemplate } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { type ServerProcess, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { type CodeBlock, codeBlocksOf, codeSpansOf, tableRowsOf } from "./markdown.ts";
import { startShells } from "./shell.ts";
import { listFiles, readText, root } from "./source.ts";

/** The pages about toolkits whose files and commands build on each other, in reading order. */
const pages = [
  "start/build-a-toolkit",
  "guides/toolkits/add-a-destructive-tool",
  "guides/toolkits/test-a-toolkit",
  "guides/toolkits/publish-a-private-toolkit",
  "reference/toolkits/deployment-file",
].map((page) => readText(`docs/${page}.md`));
const blocks = pages.flatMap(codeBlocksOf);

function pageOf(name: string): string {
  return readText(`docs/reference/toolkits/${name}.md`);
}

/** Returns the file name in the first line of a block, or undefined if the block is no file. */
function fileOf({ language, text }: CodeBlock): string | undefined {
  return language === "yaml" ? /^# (\S+\.yaml)\n/.exec(text)?.[1] : undefined;
}

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-guide-"));
  // The guide's commands expect to run in the checkout, so its toolkits are linked here.
  await symlink(join(root, "toolkits"), join(folder, "toolkits"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function writeBlock(block: CodeBlock): Promise<void> {
  const file = join(folder, fileOf(block) ?? "");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, block.text);
}

async function loadExample() {
  for (const block of blocks) if (fileOf(block) !== undefined) await writeBlock(block);
  return loadCatalog({ folders: [join(folder, "my-toolkits")] });
}

describe("the example", () => {
  test("loads without a fault", async () => {
    const { toolkits, tools } = await loadExample();
    expect([...toolkits.keys()]).toEqual(["task_list"]);
    expect([...tools.values()].map(({ name, class: access }) => [name, access])).toEqual([
      ["create_task", "write"],
      ["delete_task", "destructive"],
      ["list_tasks", "read"],
    ]);
  });

  test("makes the requests that the guide shows", async () => {
    const { toolkits } = await loadExample();
    const toolkit = toolkits.get("task_list");
    if (toolkit === undefined) throw new Error("no app");
    const rows = tableRowsOf(readText("docs/guides/toolkits/test-a-toolkit.md"));
    const plain = (cell = "") => cell.replace(/^`|`$/g, "");
    for (const [tool, args, request, body] of rows) {
      const action = toolkit.actions.find(({ name }) => name === plain(tool));
      if (action === undefined) throw new Error(`no tool ${tool}`);
      const given: unknown = JSON.parse(plain(args));
      const params = fillInput(action.inputSchema, given) as Record<string, unknown>;
      expect(action.validateInput(params)).toEqual([]);
      const rendered = renderRequest(toolkit, action, { params, account: {} });
      const query = new URLSearchParams(
        rendered.query.map(([name, value]): [string, string] => [name, value]),
      ).toString();
      expect(`${rendered.method} ${rendered.path}${query === "" ? "" : `?${query}`}`).toBe(plain(request));
      expect(rendered.body).toEqual(body === "" ? undefined : JSON.parse(plain(body)));
    }
    expect(rows.length).toBeGreaterThan(3);
  });

  test("takes the overlay of the deployment file", async () => {
    await loadExample();
    const deployment = await loadDeployment(join(folder, "deployment.yaml"));
    const folders = [join(folder, "my-toolkits"), join(folder, "toolkits")];
    const { toolkits, tools } = await loadCatalog({ folders, deployment });
    expect(toolkits.get("task_list")?.baseUrl).toBe("https://tasks.example.org/v2");
    expect(tools.get("task_list.list_tasks")?.inputSchema["properties"]).not.toHaveProperty("page_token");
    expect(toolkits.get("calendar")?.baseUrl).toBe("https://calendar.example.com/calendar/v3");
  });
});

/** Replaces the parts that differ from run to run: durations, ids, and texts made from ids. */
function normalize(text: string): string {
  return text
    .replace(/\(\d+ ms\)/g, "(N ms)")
    .replace(/\b(prj|acc)_[0-9a-z]{26}\b/g, "$1_ID")
    .replace(/^idempotency-key: [0-9a-f]{64}$/m, "idempotency-key: KEY")
    .trim();
}

const run = await startShells({ isHere: true });

/** Runs the commands of a block as printed. Resolves with the terminal's output. */
function runInShell(commands: string, server: ServerProcess | undefined): Promise<string> {
  return run(commands, { folder, url: server?.url });
}

const hasShell = ["bash", "sed"].every((command) => spawnSync(command, ["--version"]).status === 0);

test.skipIf(!hasShell)(
  "the pages run as they are printed, with the outputs and the faults that they show",
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const environment = { SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: vaultKey(), SVC_SANDBOX: "force" };
    let server: ServerProcess | undefined;
    onTestFinished(async () => void (await server?.end("SIGTERM")));
    let compared = 0;
    for (const [index, block] of blocks.entries()) {
      if (fileOf(block) !== undefined) await writeBlock(block);
      if (block.language !== "sh") continue;
      const [, toolkits] = /^SVC_TOOLKITS=(\S+) npm start$/m.exec(block.text) ?? [];
      if (toolkits !== undefined) {
        await server?.end("SIGTERM");
        const folders = toolkits.split(",").map((name) => join(folder, name));
        server = await startServerProcess({ ...environment, SVC_TOOLKITS: folders.join(",") });
        continue;
      }
      const next = blocks[index + 1];
      const shown = next?.language === "text" ? next.text : "";
      expect(normalize(await runInShell(block.text, server)), block.text).toBe(normalize(shown));
      compared++;
    }
    expect(compared).toBeGreaterThan(7);
  },
  480_000,
);

test("what the pages about toolkits show of YAML is YAML", () => {
  const shown = listFiles("docs")
    .filter((path) => /toolkits?\b.*\.md$/.test(path))
    .flatMap((path) => codeBlocksOf(readText(path)).filter(({ language }) => language === "yaml"));
  expect(shown.length).toBeGreaterThan(10);
  for (const { text } of shown) expect(() => parse(text)).not.toThrow();
});

type Schema = {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
};

function readSchema(name: string): Schema {
  return JSON.parse(readText(`packages/catalog/src/schemas/${name}.schema.json`)) as Schema;
}

/** Lists the keys of a schema as the guide writes them. Each has true if every form that has the key requires it. */
function keysOf(schema: Schema, file: Schema, prefix = "", keys = new Map<string, boolean>()): Map<string, boolean> {
  const [, other, name = ""] = /^(?:(\w+)\.schema\.json)?#\/\$defs\/(\w+)$/.exec(schema.$ref ?? "") ?? [];
  if (schema.$ref !== undefined) {
    const target = other === undefined ? file : readSchema(other);
    return keysOf(target.$defs?.[name] ?? {}, target, prefix, keys);
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const path = `${prefix}${prefix === "" ? "" : "."}${key}`;
    keys.set(path, (keys.get(path) ?? true) && (schema.required ?? []).includes(key));
    keysOf(property, file, path, keys);
  }
  for (const form of schema.oneOf ?? []) keysOf(form, file, prefix, keys);
  if (schema.items !== undefined) keysOf(schema.items, file, `${prefix}[]`, keys);
  // Free names with texts (`query`, `always.headers`) are the value of that key, and are not listed as keys of the file.
  if (typeof schema.additionalProperties === "object") keysOfNames(schema.additionalProperties, file, prefix, keys);
  return keys;
}

function keysOfNames(schema: Schema, file: Schema, prefix: string, keys: Map<string, boolean>): void {
  const target = file.$defs?.[schema.$ref?.replace("#/$defs/", "") ?? ""] ?? schema;
  if (target.properties !== undefined) keysOf(target, file, `${prefix}.<name>`, keys);
  else if (prefix.endsWith("overlay.tools")) keys.set(`${prefix}.<name>`, false);
}

describe("the reference", () => {
  const tool = readSchema("tool");
  test.each([
    ["toolkit-yaml", readSchema("toolkit"), readSchema("toolkit")],
    ["actions", tool.$defs?.["action"], tool],
    ["triggers", tool.$defs?.["trigger"], tool],
    ["deployment-file", readSchema("deployment"), readSchema("deployment")],
  ])("%s.md has the keys of its schema, all of them and no others, and says which are needed", (page, schema, file) => {
    const [, keys = ""] = /^## Keys$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(pageOf(page)) ?? [];
    const rows = tableRowsOf(keys).map(([key = "", needed]) => [key.slice(1, -1), needed === "yes"]);
    const expected = [...keysOf(schema ?? {}, file)];
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  test("the categories are those of the schema", () => {
    const schema = readSchema("toolkit") as { properties?: Record<string, { enum?: string[] }> };
    const [, paragraph = ""] = /^Categories: ([\s\S]*?)\n\n/m.exec(pageOf("toolkit-yaml")) ?? [];
    expect(codeSpansOf(paragraph)).toEqual(schema.properties?.["category"]?.enum);
  });

  test("the filters make what the table says", () => {
    const rows = tableRowsOf(pageOf("requests-and-answers")).filter((row) => row.length === 3);
    const plain = (cell = "") => cell.replace(/^`|`$/g, "");
    expect(rows.map(([filter]) => plain(filter).replace(/\(.*/, ""))).toEqual([
      "int",
      "json",
      "csv",
      "each",
      "segment",
    ]);
    for (const [filter, value, made] of rows) {
      const scope = { params: { value: JSON.parse(plain(value)) as unknown } };
      expect(renderTemplate(parseTemplate(`{{params.value | ${plain(filter)}}}`), scope)).toEqual(
        JSON.parse(plain(made)),
      );
    }
  });
});
