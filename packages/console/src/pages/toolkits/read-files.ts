import { prettyJson } from "../../words/pretty-json.ts";

/** A file that was chosen or dropped. `path` is where it stood in what was chosen, such as `shop/tools/read_order.yaml`. */
export type ChosenFile = { path: string; text: string };

/** A definition as JSON text, or why there is none in what was chosen. */
export type ReadDefinition = { text: string } | { problem: string };

/**
 * Reads a toolkit's definition out of files: one of JSON, which is taken as it is, or a toolkit's folder, `toolkit.yaml` with
 * `tools/<tool>.yaml` beside it, as the shipped ones are. What else stands there is left out.
 */
export async function readDefinition(files: readonly ChosenFile[]): Promise<ReadDefinition> {
  const toolkit = files.find(({ path }) => /(?:^|\/)toolkit\.ya?ml$/.test(path));
  if (toolkit !== undefined) return await readFolder(toolkit, files);
  const [json, ...others] = files.filter(({ path }) => path.endsWith(".json"));
  if (json === undefined || others.length > 0) {
    const found = files.length === 1 ? `${files[0]?.path} is neither` : "neither is there";
    return { problem: `Choose a toolkit's folder, with toolkit.yaml in it, or one file of JSON: ${found}.` };
  }
  return { text: json.text.includes("\n") ? json.text : prettyJson(json.text) };
}

/** Reading YAML is loaded only when it is needed: it is a third of the page. */
async function readFolder(toolkit: ChosenFile, files: readonly ChosenFile[]): Promise<ReadDefinition> {
  const { readYaml } = await import("./read-yaml.ts");
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
