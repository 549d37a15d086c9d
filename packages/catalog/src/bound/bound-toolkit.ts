import { setImmediate } from "node:timers/promises";
import { createSlices, isObject, type ProjectId, type Slices } from "@svc/core";
import { fillInDeployment } from "../build/base-url.ts";
import { buildInSteps } from "../build/build.ts";
import { checkInSteps } from "../check/check-definitions.ts";
import type { Toolkit } from "../model.ts";
import { checkDeleteClass, checkTenantDefinition, checkTenantSize } from "../private/check-tenant.ts";
import { checkCompiles, checkPatternCost } from "../private/parse-definition.ts";
import { createDefinitionFile, DefinitionError, type DefinitionFile } from "../read/definition-file.ts";
import {
  type AccessClass,
  type AuthDocument,
  accessClasses,
  type ToolDocument,
  type ToolkitDeploymentDocument,
  type ToolkitDocument,
  type ToolkitDocuments,
} from "../read/documents.ts";
import { checkNames, overlay } from "../read/load.ts";
import { filesOf, type ToolkitFiles } from "../read/read-definitions.ts";
import { createTenantValidators } from "../schema/json-schema.ts";
import { answered, deploymentOf, namedAsField, readBoundText } from "./binding.ts";

/**
 * Returns a project's copy of a shared toolkit: the definition that svc ships, with the addresses and changes that the project stored. The
 * copy uses the newest definition at each release of svc. `text`: the stored settings of the project (the binding). `sharedOf`: returns the
 * definition of a shared toolkit. Rejects with DefinitionError if the definition and the settings do not fit together; its errors name
 * fields of the settings.
 */
export async function bindToolkit(
  text: string,
  ownerProjectId: ProjectId,
  sharedOf: (slug: string) => ToolkitDocuments | undefined,
): Promise<Toolkit> {
  const slices = createSlices(setImmediate);
  const { slug, binding } = readBoundText(text);
  const shared = sharedOf(slug);
  if (shared === undefined)
    throw bindingFault("is for a toolkit that svc does not ship any more", "delete the toolkit");
  const deployment = deploymentOf(slug, binding);
  const values = deployment.toolkits.get(slug) ?? {};
  const { toolkit, tools, sayings } = answered(shared, binding);
  const plain: ToolkitFiles = {
    folder: slug,
    toolkit: createDefinitionFile("toolkit", toolkit),
    tools: new Map([...tools].map(([name, tool]) => [name, createDefinitionFile(`tools.${name}`, tool)])),
    ...(sayings && { sayings: createDefinitionFile("sayings", sayings) }),
  };
  const files = overlay(plain, deployment);
  const names = checkNames(deployment, [files]);
  throwFaults([names]);
  await checkOverlay(files, values.overlay ?? {}, slices);
  for (const _ of checkInSteps(files)) await slices.rest();
  for (const [name, file] of files.tools) checkClass(file, plain.tools.get(name)?.value);
  throwFaults(filesOf(files));
  const documents = {
    toolkit: withAddresses(files.toolkit.value as ToolkitDocument, values),
    tools: new Map([...files.tools].map(([name, file]) => [name, file.value as ToolDocument])),
    sayings,
  };
  const steps = buildInSteps(documents, {
    ...{ values, audience: "accounts", ownerProjectId, isLive: true, validators: createTenantValidators() },
  });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await slices.rest();
  }
}

type Overlay = NonNullable<ToolkitDeploymentDocument["overlay"]>;

/**
 * Checks what the overlay of a binding brings by the rules for private toolkits, because a project wrote it and not the operator. Rejects
 * with DefinitionError.
 */
async function checkOverlay(files: ToolkitFiles, { toolkit, tools = {} }: Overlay, slices: Pick<Slices, "rest">) {
  const patches = [
    ...(toolkit === undefined ? [] : [createDefinitionFile("toolkit", toolkit)]),
    ...Object.entries(tools).map(([name, patch]) => createDefinitionFile(`tools.${name}`, patch)),
  ];
  for (const patch of patches) {
    checkTenantSize(patch);
    if (patch.faults.length === 0) checkTenantDefinition(patch, undefined);
    await slices.rest();
  }
  if (toolkit !== undefined && Object.hasOwn(toolkit, "webhook"))
    patches[0]?.fault(["webhook"], "is in a bound copy", "leave it out: a bound copy receives no events");
  checkPatternCost(patches);
  throwFaults(patches);
  const changed = Object.keys(tools).flatMap((name) => files.tools.get(name) ?? []);
  for (const file of changed) {
    checkTenantSize(file);
    checkCompiles(file);
    await slices.rest();
  }
  throwFaults(changed);
}

/**
 * Records an error if an overlay makes a tool more dangerous than its class says: it lowers the class of the shipped tool, or it turns the
 * call into a DELETE. Runs at each compile, because a release of svc may have raised the class. `shipped`: the tool without the overlay.
 */
function checkClass(file: DefinitionFile, shipped: unknown): void {
  const [merged, before] = [file.value, shipped].map((value) => (isObject(value) ? value : {}));
  const rankOf = (tool: typeof merged) => accessClasses.indexOf(tool?.class as AccessClass);
  if (rankOf(merged) < rankOf(before)) {
    const reason = `is ${merged?.class}, and the class of the shared tool is ${before?.class}`;
    file.fault(["class"], reason, `write ${before?.class}`);
  } else if (!isObject(before?.request) || before.request.method !== "DELETE") checkDeleteClass(file);
}

function throwFaults(files: readonly DefinitionFile[]): void {
  const faults = files.flatMap((file) => file.faults.map(namedAsField));
  if (faults.length > 0) throw new DefinitionError(faults);
}

function bindingFault(reason: string, cure: string): DefinitionError {
  return new DefinitionError([{ file: "binding", path: "", reason, cure }]);
}

/**
 * Returns the definition of a toolkit with the addresses of a binding filled in. So an account of other addresses is not used any more.
 * Leaves out a scheme of authentication whose addresses the binding does not name, unless none is left.
 */
function withAddresses(toolkit: ToolkitDocument, values: ToolkitDeploymentDocument): ToolkitDocument {
  const fill = <Value>(value: Value): Value =>
    JSON.parse(JSON.stringify(value), (_key, text) =>
      typeof text === "string" ? fillInDeployment(text, values) : text,
    );
  const auth = fill(toolkit.auth);
  const complete = auth.filter((scheme) => !isOpen(scheme));
  const baseUrl = toolkit.baseUrl === undefined ? {} : { baseUrl: fill(toolkit.baseUrl) };
  return { ...toolkit, ...baseUrl, auth: complete.length === 0 ? auth : complete };
}

/** True if an address of the authentication scheme is not known. */
function isOpen(scheme: AuthDocument): boolean {
  return /"\{(?:auth_url|token_url)\}/.test(JSON.stringify(scheme));
}
