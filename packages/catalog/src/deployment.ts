import { readFile } from "node:fs/promises";
import { fillInDeployment } from "./base-url.ts";
import { checkTemplates } from "./check-placeholders.ts";
import { checkShape } from "./check-shape.ts";
import { DefinitionError } from "./definition-error.ts";
import { brokenFile, type DefinitionFile, type LineOf, parseDefinitionFile } from "./definition-file.ts";
import type { ToolkitDeploymentDocument } from "./documents.ts";

/** A checked deployment file. Whether it names toolkits that exist is known when the catalog is loaded with it. */
export type Deployment = {
  readonly file: string;
  readonly toolkits: ReadonlyMap<string, ToolkitDeploymentDocument>;
  readonly lineOf: LineOf;
};

/** Reads and checks a deployment file (SVC_DEPLOYMENT). Rejects with DefinitionError, which lists all its faults. */
export async function loadDeployment(path: string): Promise<Deployment> {
  return toDeployment(await readDeployment(path));
}

/** A deployment of a parsed file. Throws DefinitionError. */
export function toDeployment(file: DefinitionFile): Deployment {
  const document = file.faults.length === 0 ? checkShape<DeploymentDocument>(file, "deployment") : undefined;
  const toolkits = new Map(Object.entries(document?.toolkits ?? {}));
  for (const [slug, bindings] of toolkits) checkBindings(file, slug, bindings);
  if (file.faults.length > 0) throw new DefinitionError(file.faults);
  return { file: file.file, toolkits, lineOf: file.lineOf };
}

type DeploymentDocument = { readonly toolkits: Readonly<Record<string, ToolkitDeploymentDocument>> };

async function readDeployment(path: string): Promise<DefinitionFile> {
  try {
    return parseDefinitionFile(path, await readFile(path, "utf8"));
  } catch (error) {
    const reason = `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    return brokenFile(path, [{ reason, cure: "name a readable YAML file, or leave SVC_DEPLOYMENT empty" }]);
  }
}

function checkBindings(file: DefinitionFile, slug: string, bindings: ToolkitDeploymentDocument): void {
  if (bindings.provider_base_url !== undefined) checkProviderBaseUrl(file, slug, bindings.provider_base_url);
  for (const key of ["auth_url", "token_url"] as const) {
    const address = bindings[key];
    if (address === undefined || isHttps(address)) continue;
    const reason = `"${address}" is not an https address`;
    file.fault(["toolkits", slug, key], reason, "start it with https:// (http:// to loopback only)");
  }
}

const labelOfFixedDomain = /^https:\/\/([\w-]+\.)*\{\{[^}]*\}\}(\.[\w-]+){2,}(:\d+)?(\/[^{}]*)?$/;

function checkProviderBaseUrl(file: DefinitionFile, slug: string, address: string): void {
  const path = ["toolkits", slug, "provider_base_url"];
  const { placeholders } = checkTemplates(file, path, address, { params: "any", account: "any" });
  const plain = fillInDeployment(address, {}).replaceAll(/\{\{[^}]*\}\}/g, "1");
  if (!isHttps(plain) || /[?#@\s]|\/$/.test(plain)) {
    file.fault(
      path,
      `"${address}" is not an https address to prefix paths with`,
      "write https://host, with no query and no trailing /",
    );
  }
  // An argument of a call may choose a label, never the domain that the account's credential is sent to.
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
