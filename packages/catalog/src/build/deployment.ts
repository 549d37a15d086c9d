import { readFile } from "node:fs/promises";
import { requireText } from "@svc/core";
import { checkTemplates } from "../check/check-response.ts";
import { checkShape } from "../check/check-shape.ts";
import type { Toolkit } from "../model.ts";
import {
  brokenFile,
  DefinitionError,
  type DefinitionFile,
  type FileFault,
  type LineOf,
  parseDefinitionFile,
} from "../read/definition-file.ts";
import type { ToolkitDeploymentDocument } from "../read/documents.ts";
import { fillInDeployment } from "./base-url.ts";

/** A checked deployment file. The names of its toolkits (apps with their tools) are checked later, when the catalog is loaded. */
export type Deployment = {
  readonly file: string;
  readonly toolkits: ReadonlyMap<string, ToolkitDeploymentDocument>;
  readonly lineOf: LineOf;
};

/** Reads and checks a deployment file (SVC_DEPLOYMENT). Rejects with DefinitionError, which lists all its errors. */
export async function loadDeployment(path: string): Promise<Deployment> {
  return toDeployment(await readDeployment(path));
}

/** Returns the content of a parsed deployment file. Throws DefinitionError if the file has errors. */
export function toDeployment(file: DefinitionFile): Deployment {
  const { deployment, faults } = soundDeployment(file);
  if (faults.length > 0) throw new DefinitionError(faults);
  return deployment;
}

/**
 * Returns the errors of a deployment file, and the part of the file without errors. The caller can check this part against the toolkit
 * definitions (one app's tools and webhooks each) even if the rest has errors.
 */
export async function checkDeployment(path: string): Promise<CheckedDeployment> {
  return soundDeployment(await readDeployment(path));
}

/** The valid part of a deployment file, and the errors of the invalid parts. */
export type CheckedDeployment = { readonly deployment: Deployment; readonly faults: readonly FileFault[] };

function soundDeployment(file: DefinitionFile): CheckedDeployment {
  const document = file.faults.length === 0 ? checkShape<DeploymentDocument>(file, "deployment") : undefined;
  const toolkits = Object.entries(document?.toolkits ?? {}).map(([slug, bindings]) => {
    return [slug, checkBindings(file, slug, bindings)] as const;
  });
  return { deployment: { file: file.file, toolkits: new Map(toolkits), lineOf: file.lineOf }, faults: file.faults };
}

/**
 * True if the deployment has an OAuth client for a toolkit's app: the deployment file names two variables and both are set. Always false
 * for a private toolkit (published by one project), because its slug may be the same as a shared toolkit's.
 */
export function isOauthRegistered(
  { slug, ownerProjectId }: Pick<Toolkit, "slug" | "ownerProjectId">,
  deployment: Deployment | undefined,
  environment: (name: string) => string | undefined,
): boolean {
  const oauth = ownerProjectId === "" ? deployment?.toolkits.get(slug)?.oauth : undefined;
  if (oauth === undefined) return false;
  return [oauth.client_id_env, oauth.client_secret_env].every((name) => (environment(name) ?? "") !== "");
}

type DeploymentDocument = { readonly toolkits: Readonly<Record<string, ToolkitDeploymentDocument>> };

async function readDeployment(path: string): Promise<DefinitionFile> {
  try {
    return parseDefinitionFile(path, requireText(await readFile(path)));
  } catch (error) {
    const reason = `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    return brokenFile(path, [{ reason, cure: "name a readable YAML file, or leave SVC_DEPLOYMENT empty" }]);
  }
}

/**
 * Checks the values that the operator's deployment file sets for a toolkit (for example its base URL), and returns them. If one of the
 * values is an invalid address, returns the values with all addresses removed.
 */
function checkBindings(
  file: DefinitionFile,
  slug: string,
  bindings: ToolkitDeploymentDocument,
): ToolkitDeploymentDocument {
  const count = file.faults.length;
  if (bindings.provider_base_url !== undefined) checkProviderBaseUrl(file, slug, bindings.provider_base_url);
  for (const key of ["auth_url", "token_url"] as const) {
    const address = bindings[key];
    if (address === undefined || isHttps(address)) continue;
    const reason = `"${address}" is not an https address`;
    file.fault(["toolkits", slug, key], reason, "start it with https:// (http:// to loopback only)");
  }
  if (file.faults.length === count) return bindings;
  const { provider_base_url: _base, auth_url: _auth, token_url: _token, ...others } = bindings;
  return others;
}

const labelOfFixedDomain = /^https:\/\/([\w-]+\.)*\{\{[^}]*\}\}(\.[\w-]+){2,}(:\d+)?(\/[^{}]*)?$/;

function checkProviderBaseUrl(file: DefinitionFile, slug: string, address: string): void {
  const path = ["toolkits", slug, "provider_base_url"];
  const { placeholders } = checkTemplates(file, path, address, { params: "any", account: "any" });
  const plain = fillInDeployment(address, {}).replaceAll(/\{\{[^}]*\}\}/g, "1");
  if (!isHttps(plain) || /[?#@\s]|\/$/.test(plain)) {
    file.fault(
      path,
      `"${address}" is not an https address (http to loopback only) to prefix paths with`,
      "write https://host, or http://127.0.0.1:port for what runs on this machine, with no query and no trailing /",
    );
  }
  // An argument of a call may set a label of the host, but not the domain, because the account's credential is sent there.
  const params = placeholders.filter(([{ root }]) => root === "params");
  if (params.length > 1 || (params.length === 1 && !labelOfFixedDomain.test(address))) {
    file.fault(
      path,
      "an argument is not one whole label in front of a fixed domain",
      "write https://{{params.name}}.example.com",
    );
  }
}

function isHttps(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol === "https:") return true;
  return url?.protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
}
