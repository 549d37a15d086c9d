import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action, Catalog, Tool, Toolkit } from "@svc/catalog";
import type { SearchCase } from "./evaluate.ts";

/** A public set of queries, with the catalog that they refer to. */
export type PublicSet = { readonly name: string; readonly catalog: Catalog; readonly cases: readonly SearchCase[] };

/** The description of one tool in a public set. */
type Told = { readonly name: string; readonly description: string; readonly inputSchema?: object };

/** The tool from which a made-up tool copies the parts that a search does not read. */
type Model = { readonly toolkit: Toolkit; readonly action: Action };

/** Step between the used queries of MetaTool. All 20,614 queries give the same result and take a minute. */
const metaToolStep = 10;

/**
 * Reads the public sets in a folder, with the files of their repositories: `livemcpbench/{tools,all_annotations}.json` and
 * `metatool/{plugin_des.json,all_clean_data.csv}`. Rejects if one is missing. The files are not part of this repository.
 */
export async function readPublicSets(folder: string, model: Model): Promise<readonly PublicSet[]> {
  const read = (file: string) => readFile(join(folder, file), "utf8");
  const [tools, annotations, plugins, queries] = await Promise.all([
    read("livemcpbench/tools.json"),
    read("livemcpbench/all_annotations.json"),
    read("metatool/plugin_des.json"),
    read("metatool/all_clean_data.csv"),
  ]);
  return [
    liveMcpBench(JSON.parse(tools), JSON.parse(annotations), model),
    metaTool(JSON.parse(plugins), queries, model),
  ];
}

type LiveServer = {
  readonly name: string;
  readonly description: string;
  readonly tools: Readonly<Record<string, { readonly tools: readonly Told[] }>>;
};

type LiveTask = { readonly "Annotator Metadata": { readonly Steps: string; readonly Tools: string } };

/**
 * Makes a case of each step of a task, if the task has as many steps as tools: its first step then uses its first tool, and so on. For
 * other tasks the set does not state which step uses which tool.
 */
function liveMcpBench(servers: readonly LiveServer[], tasks: readonly LiveTask[], model: Model): PublicSet {
  const catalog = catalogOf(
    model,
    servers.map(({ name, description, tools }) => ({
      name,
      description,
      tools: Object.values(tools).flatMap((server) => server.tools),
    })),
  );
  const slugs = Map.groupBy(catalog.tools.values(), ({ name }) => name);
  const cases = tasks.flatMap(({ "Annotator Metadata": { Steps, Tools } }) => {
    const [steps, names] = [linesOf(Steps), linesOf(Tools)];
    if (steps.length !== names.length) return [];
    return steps.flatMap((intent, at) => {
      const accepts = (slugs.get(names[at] ?? "") ?? []).map(({ slug }) => slug);
      return accepts.length === 0 ? [] : [{ intent, accepts }];
    });
  });
  return { name: "LiveMCPBench steps", catalog, cases };
}

/** Returns the lines of a numbered list. */
function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => line.replace(/^\d+\.\s*/, "").trim() || []);
}

/** Makes cases of queries that need one tool each. Every app of this set has one tool. */
function metaTool(plugins: Readonly<Record<string, string>>, queries: string, model: Model): PublicSet {
  const apps = Object.entries(plugins).map(([name, description]) => ({
    name,
    description: "",
    tools: [{ name, description }],
  }));
  const catalog = catalogOf(model, apps);
  const slugs = new Map([...catalog.tools.values()].map(({ name, slug }) => [name, slug]));
  const cases = rowsOf(queries).flatMap(([intent = "", tool = ""], index) => {
    const slug = slugs.get(tool);
    return slug === undefined || index % metaToolStep > 0 ? [] : [{ intent, accepts: [slug] }];
  });
  return { name: "MetaTool", catalog, cases };
}

/** Returns the rows of a CSV text with two columns, without its heading. */
function rowsOf(text: string): string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r?\n|$)/g)];
  const values = cells.map(([, quoted, plain]) => (quoted ?? plain ?? "").replaceAll('""', '"'));
  return values.flatMap((value, at) => (at > 1 && at % 2 === 0 ? [[value, values[at + 1] ?? ""]] : []));
}

function catalogOf(model: Model, apps: readonly { name: string; description: string; tools: readonly Told[] }[]) {
  const toolkits = apps.map(({ name, description, tools }, index): Toolkit => {
    // The index keeps two servers with the same name apart.
    const slug = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}_${index}`;
    const actions = tools.map((tool) => makeAction(model.action, slug, tool));
    return { ...model.toolkit, slug, name, description, sayings: undefined, actions, triggers: [] };
  });
  const tools: Tool[] = toolkits.flatMap(({ actions }) => actions);
  return {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(tools.map((tool) => [tool.slug, tool])),
  };
}

function makeAction(model: Action, toolkitSlug: string, { name, description, inputSchema }: Told): Action {
  return {
    ...model,
    // These tools have no path of their own that a search could read.
    request: { ...model.request, path: { kind: "constant", value: "/" } },
    slug: `${toolkitSlug}.${name}`,
    name,
    toolkitSlug,
    class: classOf(name),
    description: description ?? "",
    intents: [],
    callable: true,
    inputSchema: { type: "object", ...inputSchema },
  };
}

/**
 * Returns the access class of a tool. The sets do not state it, so the verb in the name decides, as a publisher of such a toolkit would
 * choose.
 */
function classOf(name: string): Action["class"] {
  if (/^(?:delete|remove|clear|drop|kill)/i.test(name)) return "destructive";
  return /^(?:create|add|write|edit|update|insert|set|move|append|save|convert|generate|send|start|stop)/i.test(name)
    ? "write"
    : "read";
}
