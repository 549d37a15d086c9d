import type { WireFault } from "../../calls/fault.ts";
import { type PlacedFault, placeFaults } from "../../words/placed-faults.ts";
import { prettyJson } from "../../words/pretty-json.ts";

/** A file that the user chose or dropped. `path`: the file's path in the selection (for example `shop/tools/read_order.yaml`). */
type ChosenFile = { path: string; text: string };

/** The definition of a toolkit (the tools of one app) as JSON text, or the reason why the chosen files contain no definition. */
export type UploadedDefinition = { text: string } | { problem: string };

/**
 * Returns the definition of a toolkit (the tools of one app) from chosen files. A JSON file is taken unchanged. A toolkit's folder must
 * contain `toolkit.yaml` and `tools/<tool>.yaml`, like the folders of the shipped toolkits. Ignores other files.
 */
export async function readDefinition(files: readonly ChosenFile[]): Promise<UploadedDefinition> {
  const toolkit = files.find(({ path }) => /(?:^|\/)toolkit\.ya?ml$/.test(path));
  if (toolkit !== undefined) return await readFolder(toolkit, files);
  const [json, ...others] = files.filter(({ path }) => path.endsWith(".json"));
  if (json === undefined || others.length > 0) {
    const found = files.length === 1 ? `${files[0]?.path} is neither` : "neither is there";
    return { problem: `Choose the folder of an app with toolkit.yaml in it, or one JSON file: ${found}.` };
  }
  return { text: json.text.includes("\n") ? json.text : prettyJson(json.text) };
}

const unreadable =
  "The reader of YAML files could not be loaded. Check the connection and choose the files again, or reload the page.";

/**
 * Returns a toolkit's definition from a folder of YAML files. Loads the YAML reader only here, because it is a third of the page's code.
 */
async function readFolder(toolkit: ChosenFile, files: readonly ChosenFile[]): Promise<UploadedDefinition> {
  const loaded = await import("./read-yaml.ts").catch(() => undefined);
  if (loaded === undefined) return { problem: unreadable };
  const { readYaml } = loaded;
  const folder = toolkit.path.replace(/toolkit\.ya?ml$/, "tools/");
  const tools = files.filter(
    ({ path }) => path.startsWith(folder) && /^[^/.][^/]*\.ya?ml$/.test(path.slice(folder.length)),
  );
  try {
    const definition = {
      toolkit: readYaml(toolkit),
      tools: Object.fromEntries(
        tools
          .toSorted((a, b) => (a.path < b.path ? -1 : 1))
          .map((file) => [file.path.slice(folder.length).replace(/\.ya?ml$/, ""), readYaml(file)]),
      ),
    };
    return { text: `${JSON.stringify(definition, null, 2)}\n` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/**
 * Returns each error in the definition of a toolkit (the tools of one app) with its position in the definition's text, in the order of the
 * text.
 */
export function placeDefinitionFaults(text: string, faults: readonly WireFault[]): PlacedFault[] {
  return placeFaults(
    text,
    faults.map(({ field, help }) => {
      const steps = stepsOf(field);
      return { reason: steps.join(" › ") || "the whole", pointer: pointerOf(steps), message: help, help: "" };
    }),
  );
}

/** Returns the names that lead to a field: `tools`, `read_order`, `intents`, `2` for `definitionJson.tools.read_order.intents[2]`. */
function stepsOf(field: string): string[] {
  const path = field.replace(/^definitionJson(?:\.definition)?\.?/, "");
  return [...path.matchAll(/[^.[\]]+/g)].map(([step]) => step);
}

function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
