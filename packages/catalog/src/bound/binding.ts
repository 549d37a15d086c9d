import { formatValue, isObject } from "@svc/core";
import { toDeployment } from "../build/deployment.ts";
import { createDefinitionFile, DefinitionError, type FaultPath, type FileFault } from "../read/definition-file.ts";
import type { ToolkitDeploymentDocument, ToolkitDocument, ToolkitDocuments } from "../read/documents.ts";

/**
 * A project's own settings for a shared toolkit (an app's tools that svc ships), by which the toolkit calls the app of the project. They
 * contain the app's addresses (empty for none) and changes to the toolkit's definition files (JSON Merge Patch, RFC 7396). `values`:
 * answers to the toolkit's questions, by the path in the definition that each answer fills in.
 */
export type ToolkitBinding = {
  readonly baseUrl: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly scopeBase: string;
  readonly values: Readonly<Record<string, string>>;
  readonly overlay: NonNullable<ToolkitDeploymentDocument["overlay"]>;
};

/**
 * Returns the text that the database stores for a project's copy of a shared toolkit, instead of a full definition. It contains the
 * toolkit's slug and the project's settings (the binding).
 */
export function boundText(slug: string, binding: ToolkitBinding): string {
  return JSON.stringify({ shared: slug, binding });
}

/** Returns the slug of the shared toolkit and the project's settings for it (the binding). Both were stored as one text by `boundText`. */
export function readBoundText(text: string): { readonly slug: string; readonly binding: ToolkitBinding } {
  const { shared, binding } = JSON.parse(text) as { shared: string; binding: ToolkitBinding };
  return { slug: shared, binding };
}

/**
 * Returns a project's settings for a shared toolkit (the binding) in the form of a deployment file, so that the same code applies them.
 * Throws DefinitionError if an address is malformed. Its errors name fields of the binding.
 */
export function deploymentOf(slug: string, binding: ToolkitBinding) {
  const { baseUrl, authorizeUrl, tokenUrl, scopeBase, overlay } = binding;
  const entries = { provider_base_url: baseUrl, auth_url: authorizeUrl, token_url: tokenUrl, scope_base: scopeBase };
  const given = Object.fromEntries(Object.entries(entries).filter(([, text]) => text !== ""));
  const document = { toolkits: { [slug]: { ...given, ...(Object.keys(overlay).length > 0 && { overlay }) } } };
  try {
    return toDeployment(createDefinitionFile("binding", document));
  } catch (error) {
    if (error instanceof DefinitionError) throw new DefinitionError(error.faults.map(namedAsField));
    throw error;
  }
}

const fields: Readonly<Record<string, string>> = {
  provider_base_url: "baseUrl",
  auth_url: "authorizeUrl",
  token_url: "tokenUrl",
  scope_base: "scopeBase",
};

/**
 * Returns an error of a deployment file as an error of the project's settings (the binding) from which `deploymentOf` made the file. For
 * example, the field `auth_url` becomes `authorizeUrl`.
 */
export function namedAsField(fault: FileFault): FileFault {
  const [, field = "", rest = ""] = /^toolkits\.\w+\.(\w+)(.*)$/.exec(fault.path) ?? [];
  return field === "" ? fault : { ...fault, path: `${fields[field] ?? field}${rest}` };
}

/**
 * Returns the definition of a shared toolkit with a project's answers to the toolkit's questions filled in. Leaves out the parts that a
 * project cannot use: the webhook, the triggers and the questions. Throws DefinitionError if an answer has a path for which the toolkit has
 * no question.
 */
export function answered({ toolkit, tools, sayings }: ToolkitDocuments, { values }: ToolkitBinding): ToolkitDocuments {
  const { webhook: _webhook, binding: asked = [], ...own } = toolkit;
  const known = asked.flatMap(({ path }) => (path === "baseUrl" ? [] : [path]));
  const faults: FileFault[] = [];
  const filled = Object.entries(values).reduce<unknown>((value, [path, text]) => {
    const place = placeOf(path, text);
    const isAsked = known.includes(path);
    const cure = known.length === 0 ? "leave values empty" : `use ${known.join(", ")}`;
    const reason = isAsked ? undefined : `has ${formatValue(path)}, which ${toolkit.slug} does not ask for`;
    if (place !== undefined && reason === undefined) return withValueAt(value, place.steps, place.text);
    const wrong = `has ${formatValue(text)} for ${path}, which is not NAME: VALUE`;
    faults.push({
      file: "binding",
      path: isAsked ? `values[${JSON.stringify(path)}]` : "values",
      reason: reason ?? wrong,
      cure: reason === undefined ? "write it as X-Name: value" : cure,
    });
    return value;
  }, own);
  if (faults.length > 0) throw new DefinitionError(faults);
  const actions = [...tools].filter(([, tool]) => tool.kind === "action");
  return { toolkit: filled as ToolkitDocument, tools: new Map(actions), sayings: phrasesOf(sayings, actions) };
}

function phrasesOf(sayings: ToolkitDocuments["sayings"], actions: readonly (readonly [string, unknown])[]) {
  const names = new Set(actions.map(([name]) => name));
  return sayings && Object.fromEntries(Object.entries(sayings).filter(([name]) => names.has(name)));
}

/**
 * Returns the place of an answer in a definition and the text there. An answer to a path such as `always.headers:version` names the place
 * itself, as in `X-App-Version: 2022-06-28`. Returns undefined if it does not.
 */
function placeOf(path: string, text: string): { readonly steps: FaultPath; readonly text: string } | undefined {
  const [, part] = /^always\.(\w+):/.exec(path) ?? [];
  if (part === undefined) return { steps: stepsOf(path), text };
  const [, name, value] = /^([\w-]{1,64}):\s*(\S.*)$/.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : { steps: ["always", part, name], text: value.trim() };
}

/**
 * Returns the path of the question whose answer filled in a given place of a toolkit definition, such as `always.headers.X-App-Version`.
 * Returns undefined if the project gave no answer for this place.
 */
export function questionAt(place: string, { values }: ToolkitBinding): string | undefined {
  const steps = JSON.stringify(stepsOf(place));
  return Object.keys(values).find((path) => JSON.stringify(placeOf(path, values[path] ?? "")?.steps) === steps);
}

/** Returns the steps of a path such as `auth[0].name`: names of members and indexes of lists. */
function stepsOf(path: string): FaultPath {
  return path.split(/[.[\]]+/).flatMap((step) => (step === "" ? [] : /^\d+$/.test(step) ? Number(step) : step));
}

function withValueAt(node: unknown, [step, ...rest]: FaultPath, text: string): unknown {
  if (step === undefined) return text;
  if (typeof step === "number")
    return Array.isArray(node) ? node.with(step, withValueAt(node[step], rest, text)) : node;
  const members = isObject(node) ? node : {};
  return { ...members, [step]: withValueAt(members[step], rest, text) };
}
