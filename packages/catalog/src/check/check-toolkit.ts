import { formatValue, isObject, parseDuration, skillsToolkitSlug } from "@svc/core";
import { faultOfBaseUrl, fillInDeployment, keySegment } from "../build/base-url.ts";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { AuthDocument, ToolkitDocument } from "../read/documents.ts";
import { isShortEnough, parseLinearRegExp } from "../schema/linear-reg-exp.ts";
import { checkTemplates, deploymentNamespace, type Namespaces } from "./check-response.ts";
import { checkWebhook } from "./check-webhook.ts";
import { checkNames, faultOfFieldName, faultOfHeaderName } from "./known-names.ts";

/** Credential fields that an account has, by authentication scheme. */
const credentialFields: Readonly<Record<AuthDocument["type"], readonly string[]>> = {
  oauth2: ["access_token"],
  api_key: ["key"],
  basic: ["username", "password"],
  none: [],
  client_credentials: ["access_token"],
};

/**
 * Slugs that no toolkit (the tools and webhooks of one app) may have, because svc itself uses them as toolkit names. The values say for
 * what.
 */
const reservedSlugs: ReadonlyMap<string, string> = new Map([
  [skillsToolkitSlug, "promoted jobs"],
  ["events", "a project's own events"],
  ["svc", "events of svc itself"],
]);

/**
 * Checks the rules for a toolkit file (definition of one app) that its schema cannot express, on the well-formed parts. Records every
 * error.
 */
export function checkToolkit(file: DefinitionFile, document: Partial<ToolkitDocument>, folder: string): void {
  if (document.slug !== undefined && document.slug !== folder) {
    file.fault(["slug"], `is "${document.slug}" in the folder ${folder}`, "give the folder and the slug the same name");
  }
  const reserved = reservedSlugs.get(document.slug ?? "");
  if (reserved !== undefined) {
    file.fault(["slug"], `"${document.slug}" is reserved for ${reserved}`, "give folder and slug another name");
  }
  checkBaseUrl(file, document);
  checkAuth(file, document);
  checkAccount(file, document);
  const namespaces = { account: accountNames(file, document), deployment: deploymentNamespace };
  checkTemplates(file, ["always"], document.always ?? {}, namespaces);
  checkNames(file, ["always"], document.always);
  checkRate(file, document);
  if (document.webhook !== undefined) checkWebhook(file, document.webhook);
}

const rateMs = { min: 1_000, max: 86_400_000 };

function checkRate(file: DefinitionFile, { rate }: Partial<ToolkitDocument>): void {
  if (rate === undefined) return;
  const perMs = parseDuration(rate.per);
  if (perMs < rateMs.min || perMs > rateMs.max) {
    file.fault(["rate", "per"], `is ${rate.per}`, "write a time from 1s to 1d");
  }
}

/**
 * Returns the names that templates of this toolkit may use after `account.`, as in `{{account.region}}`. Returns `any` if the toolkit's
 * declaration of these names is itself invalid, so that no further errors follow from it.
 */
export function accountNames(file: DefinitionFile, document: Partial<ToolkitDocument>): ReadonlySet<string> | "any" {
  if (document.account === undefined && declares(file, "account")) return "any";
  return new Set((document.account ?? []).map(({ name }) => name));
}

/** True if a file contains a key, even with a malformed value. */
export function declares(file: DefinitionFile, key: string): boolean {
  return !isObject(file.value) || Object.hasOwn(file.value, key);
}

function checkBaseUrl(file: DefinitionFile, document: Partial<ToolkitDocument>): void {
  if (document.baseUrl === undefined) return;
  const namespaces: Namespaces = {
    account: accountNames(file, document),
    deployment: new Set(["provider_base_url"]),
    credential: new Set(["key"]),
  };
  const { placeholders } = checkTemplates(file, ["baseUrl"], document.baseUrl, namespaces);
  for (const [{ text, filters }] of placeholders) {
    if (filters.length > 0)
      file.fault(["baseUrl"], `{{${text}}} has a filter`, "remove it: the value is used unchanged");
  }
  const fault = faultOfBaseUrl(document.baseUrl);
  if (fault !== undefined) file.fault(["baseUrl"], ...fault);
}

function checkAuth(file: DefinitionFile, document: Partial<ToolkitDocument>): void {
  const account = accountNames(file, document);
  const seen = new Set<string>();
  document.auth?.forEach((scheme, index) => {
    const path = ["auth", index];
    if (seen.has(scheme.type)) {
      file.fault(
        [...path, "type"],
        `"${scheme.type}" is declared twice`,
        "declare each type once: connections name it",
      );
    }
    seen.add(scheme.type);
    const credential = new Set(credentialFields[scheme.type]);
    if (scheme.type === "api_key") {
      checkKey(file, path, scheme, { credential, account });
    } else if (scheme.type === "basic") {
      scheme.place?.forEach((place, at) => {
        checkTemplates(file, [...path, "place", at, "value"], place.value, { credential, account });
        checkPlaceName(file, [...path, "place", at, "name"], place.in, place.name);
      });
      checkBothPlaced(file, path, scheme);
    } else if (scheme.type === "oauth2" || scheme.type === "client_credentials") {
      checkOAuth(file, path, scheme);
    }
  });
  checkKeySegment(file, document);
}

type KeyScheme = AuthDocument & { type: "api_key" };

function checkKey(
  file: DefinitionFile,
  path: (string | number)[],
  scheme: Pick<KeyScheme, "placement"> & { name?: string; value?: string },
  namespaces: Namespaces,
): void {
  const { placement } = scheme;
  for (const key of ["name", "value"] as const) {
    const isNeeded = placement !== "path";
    if ((scheme[key] !== undefined) === isNeeded) continue;
    const [problem, cure] = isNeeded
      ? (["is missing", key === "name" ? `name the ${placement}` : "write how the key is sent"] as const)
      : (["is not known for placement: path", `remove it: the key is the segment ${keySegment} of baseUrl`] as const);
    file.fault([...path, key], problem, cure);
  }
  if (placement === "path" || scheme.name === undefined || scheme.value === undefined) return;
  checkTemplates(file, [...path, "value"], scheme.value, namespaces);
  checkPlaceName(file, [...path, "name"], placement, scheme.name);
}

/** Checks that a key in the path has its segment in the base URL, and that no other scheme would leave this segment empty. */
function checkKeySegment(file: DefinitionFile, { baseUrl, auth, mcp }: Partial<ToolkitDocument>): void {
  if (auth === undefined) return;
  const isKey = (scheme: AuthDocument) => scheme.type === "api_key" && scheme.placement === "path";
  const index = auth.findIndex(isKey);
  if (index >= 0 && mcp !== undefined) {
    // The address of an MCP server has no placeholder, so calls would carry no key.
    file.fault(["auth", index, "placement"], "is path in a toolkit with an MCP server", "write header or query");
    return;
  }
  if (baseUrl === undefined) return;
  const hasSegment = fillInDeployment(baseUrl, {}).includes(keySegment);
  if (index < 0 && hasSegment) {
    file.fault(["baseUrl"], `has ${keySegment}`, "declare {type: api_key, placement: path} in auth, or remove it");
  } else if (index >= 0 && !hasSegment) {
    file.fault(["auth", index, "placement"], "is path", `write ${keySegment} as a path segment of baseUrl`);
  } else if (index >= 0 && auth.length > 1) {
    file.fault(["auth"], "has schemes that do not fill the path segment of the key", "declare api_key alone");
  }
}

function checkPlaceName(file: DefinitionFile, path: FaultPath, place: "header" | "query", name: string): void {
  const fault = place === "header" ? faultOfHeaderName(name) : faultOfQueryName(name);
  if (fault !== undefined) file.fault(path, ...fault);
}

function checkBothPlaced(file: DefinitionFile, path: FaultPath, { place }: AuthDocument & { type: "basic" }): void {
  if (place === undefined) return;
  for (const name of ["username", "password"]) {
    if (place.some(({ value }) => new RegExp(`\\{\\{\\s*credential\\.${name}\\b`).test(value))) continue;
    file.fault([...path, "place"], `does not send {{credential.${name}}}`, "add an entry for it");
  }
  const names = place.map((entry) => `${entry.in} ${entry.name.toLowerCase()}`);
  if (new Set(names).size < names.length) file.fault([...path, "place"], "names a place twice", "keep one of the two");
}

/**
 * Returns the error of a query parameter's name as [reason, correction]; undefined if it is valid. Allowed are characters that every app
 * accepts without encoding (RFC 3986, 2.3, and the usual brackets).
 */
function faultOfQueryName(name: string): readonly [reason: string, cure: string] | undefined {
  if (/^[\w.~:$[\]-]+$/.test(name)) return faultOfFieldName(name);
  return [
    `${formatValue(name)} is not the name of a query parameter`,
    "use letters, digits, _, ., ~, :, $, [, ] and -",
  ];
}

function checkOAuth(
  file: DefinitionFile,
  path: (string | number)[],
  scheme: AuthDocument & { type: "oauth2" | "client_credentials" },
): void {
  const addresses = scheme.type === "oauth2" ? ["authorizeUrl", "tokenUrl"] : ["tokenUrl"];
  for (const key of addresses) {
    const address = String(scheme[key as keyof typeof scheme]);
    checkTemplates(file, [...path, key], address, { deployment: new Set(["auth_url", "token_url"]) });
    if (!/^(https:\/\/[^\s{}]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/][^\s{}]*|\{\{.*\}\})$/.test(address)) {
      file.fault(
        [...path, key],
        `"${address}" is not an https address`,
        "start it with https://, or take the deployment's",
      );
    }
  }
  checkTemplates(file, [...path, "defaultScopes"], scheme.defaultScopes ?? [], { deployment: new Set(["scope_base"]) });
}

/**
 * A toolkit can declare variables of an account, each with a pattern and an example. This is the maximum number of steps for matching one
 * example.
 */
const exampleStepsMax = 25_000;

function checkAccount(file: DefinitionFile, document: Partial<ToolkitDocument>): void {
  const seen = new Set<string>();
  (document.account ?? []).forEach(({ name, example, pattern }, index) => {
    const path = ["account", index];
    if (seen.has(name)) file.fault([...path, "name"], `"${name}" is declared twice`, "declare each variable once");
    seen.add(name);
    const form = pattern === undefined ? undefined : parseLinearRegExp(pattern);
    if (form === undefined) return;
    if ("fault" in form) {
      file.fault([...path, "pattern"], form.fault, "write it without look-around and back references");
    } else if (example !== undefined && pattern !== undefined && !isShortEnough(pattern, example, exampleStepsMax)) {
      file.fault([...path, "pattern"], "takes long over the example", "write it with fewer repetitions");
    } else if (example !== undefined && !form.test(example)) {
      file.fault([...path, "example"], `"${example}" does not match the pattern ${pattern}`, "correct one of the two");
    }
  });
}
