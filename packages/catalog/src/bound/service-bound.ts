import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { isObject, JsonTooLargeError, type ProjectId, parseExactJson, RepeatedNameError } from "@svc/core";
import type { NewToolkitSource } from "@svc/db/catalog/sources";
import type { ImportReportSchema, ImportToolkitRequest } from "@svc/gen/catalog";
import { catalogFaults } from "../errors.ts";
import type { Toolkit } from "../model.ts";
import type { PublishedToolkit } from "../private/private-toolkits.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import type { CatalogView } from "../view/view.ts";
import { boundText, questionAt, type ToolkitBinding } from "./binding.ts";
import { bindToolkit } from "./bound-toolkit.ts";

type SharedSource = NonNullable<ImportToolkitRequest["shared"]>;

/** A project's copy of a shared toolkit (an app's tools that svc ships), with its source and a report in the form of the API. */
export type BoundImport = PublishedToolkit & {
  readonly source: NewToolkitSource;
  readonly report: MessageInitShape<typeof ImportReportSchema>;
};

/**
 * Makes a project's copy of a shared toolkit (an app's tools that svc ships), with the settings in the request. Stores nothing. Rejects
 * with TOOLKIT_NOT_FOUND, SOURCE_INVALID, BASE_URL_NEEDED or DEFINITION_INVALID.
 */
export async function importShared(
  request: ImportToolkitRequest & { readonly shared: SharedSource },
  {
    projectId,
    shared: view,
    nowMs,
  }: { readonly projectId: ProjectId; readonly shared: CatalogView; readonly nowMs: number },
): Promise<BoundImport> {
  const { shared } = request;
  refuseOptions(request);
  const known = view.toolkits.get(shared.slug);
  if (known === undefined || view.definitions?.has(shared.slug) !== true)
    throw catalogFaults.TOOLKIT_NOT_FOUND("shared.slug", shared.slug, view);
  const binding = readBinding(shared);
  const base = view.definitions.get(shared.slug)?.toolkit.baseUrl ?? "";
  if (binding.baseUrl === "" && base.includes("provider_base_url")) {
    const advice = "Set it to the address before every path of the app's API, such as https://api.example.com.";
    throw catalogFaults.BASE_URL_NEEDED(
      `${shared.slug} needs the base URL of the app`,
      advice,
      "shared.binding.baseUrl",
    );
  }
  const definitionJson = boundText(shared.slug, binding);
  const toolkit = await bindToolkit(definitionJson, projectId, (slug) => view.definitions?.get(slug)).catch(
    (error: unknown) => refuse(error, binding),
  );
  return { toolkit, definitionJson, source: sourceOf(toolkit, definitionJson, nowMs), report: reportOf(toolkit) };
}

function refuseOptions({
  slug,
  category,
  openapi,
  mcp,
  only,
  except,
  overrides,
  watch,
  digest,
  trust,
  shared,
}: ImportToolkitRequest): void {
  const problem =
    openapi !== undefined || mcp !== undefined
      ? "the request has two sources"
      : slug !== "" && slug !== shared?.slug
        ? `slug is ${JSON.stringify(slug)}, and a bound copy has the slug of its shared toolkit`
        : category !== "" || digest !== "" || watch || trust || only.length + except.length + overrides.length > 0
          ? "a bound copy takes no category, only, except, overrides, watch, digest or trust"
          : undefined;
  if (problem !== undefined)
    throw catalogFaults.SOURCE_INVALID(
      problem,
      "Set shared alone; shared.binding.overlayJson changes tools.",
      "shared",
    );
}

/** Maximum characters of each address and answer of a binding, and maximum number of answers. */
const [textMax, valuesMax] = [2_000, 20];

function readBinding({ binding }: SharedSource): ToolkitBinding {
  const {
    baseUrl = "",
    authorizeUrl = "",
    tokenUrl = "",
    scopeBase = "",
    values = {},
    overlayJson = "",
  } = binding ?? {};
  const texts = { baseUrl, authorizeUrl, tokenUrl, scopeBase, ...values };
  for (const [name, text] of Object.entries(texts)) {
    if (text.length <= textMax && !/[\p{Cc}\p{Cs}]/u.test(text)) continue;
    const field = Object.hasOwn(values, name) ? "values" : name;
    const problem = `shared.binding.${field} has a control character, or more than ${textMax} characters`;
    throw catalogFaults.SOURCE_INVALID(problem, "Write it without.", `shared.binding.${field}`);
  }
  if (Object.keys(values).length > valuesMax) {
    const problem = `shared.binding.values has ${Object.keys(values).length} entries`;
    throw catalogFaults.SOURCE_INVALID(problem, `Send at most ${valuesMax}.`, "shared.binding.values");
  }
  return { baseUrl, authorizeUrl, tokenUrl, scopeBase, values: { ...values }, overlay: readOverlay(overlayJson) };
}

/** Maximum characters of the JSON text of an overlay, and maximum levels of nesting in it. */
const [overlayMax, depthMax] = [262_144, 32];

function readOverlay(text: string): ToolkitBinding["overlay"] {
  if (text === "") return {};
  const advice = 'Send a JSON object such as {"toolkit": {…}, "tools": {"<tool>": {…}}}.';
  const refuse = (problem: string) =>
    catalogFaults.SOURCE_INVALID(`shared.binding.overlayJson ${problem}`, advice, "shared.binding.overlayJson");
  if (text.length > overlayMax) throw refuse(`has ${text.length} characters, and may have ${overlayMax}`);
  let overlay: unknown;
  try {
    overlay = parseExactJson(text, { depthMax, hasUniqueNames: true });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonTooLargeError || error instanceof RepeatedNameError)
      throw refuse("is not JSON that svc can read");
    throw error;
  }
  if (!isObject(overlay)) throw refuse("is not an object");
  return overlay;
}

function refuse(error: unknown, binding: ToolkitBinding): never {
  if (error instanceof DefinitionError)
    throw catalogFaults.DEFINITION_INVALID(error, (fault) => fieldOf(fault, binding));
  throw error;
}

/** Returns the field of the request that caused a broken rule of a bound copy: an address, an answer, or the overlay. */
function fieldOf({ file, path }: FileFault, binding: ToolkitBinding): string {
  const [named] = /^(?:baseUrl|authorizeUrl|tokenUrl|scopeBase|values(?:\[.*\])?)/.exec(path) ?? [];
  if (file === "binding" && named !== undefined) return `shared.binding.${named}`;
  // A rule for definitions may refuse an answer, too.
  const question = file === "toolkit" ? questionAt(path, binding) : undefined;
  return `shared.binding.${question === undefined ? "overlayJson" : `values[${JSON.stringify(question)}]`}`;
}

function sourceOf(toolkit: Toolkit, definitionJson: string, refreshedAt: number): NewToolkitSource {
  const digest = createHash("sha256").update(definitionJson).digest();
  const options = JSON.stringify({ only: [], except: [], overrides: [] });
  return {
    kind: "shared",
    origin: toolkit.baseUrl,
    options,
    digest,
    refreshedAt,
    nextAt: null,
    listingAccountId: null,
  };
}

function reportOf({ name, version, baseUrl, actions }: Toolkit): BoundImport["report"] {
  const countOf = (access: string) => actions.filter(({ class: own }) => own === access).length;
  return {
    ...{ title: name, version, format: "shared", baseUrl, operations: actions.length },
    ...{ readTools: countOf("read"), writeTools: countOf("write"), destructiveTools: countOf("destructive") },
    ...{ leftOut: [], notes: [], suggestions: [] },
  };
}
