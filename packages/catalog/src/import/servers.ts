import { isObject } from "@svc/core";
import { faultOfBaseUrl, keySegment, registrableDomain } from "../build/base-url.ts";
import type { ToolkitDocument } from "../read/documents.ts";
import { ImportError } from "./import-fault.ts";
import type { DocumentNode } from "./read.ts";
import { listOf, objectOf } from "./schema.ts";
import { safeText, snakeCase, textOf } from "./texts.ts";

/** Base address of an imported app. `account`: the values in this address that a person enters when connecting an account. */
export type ImportedServer = Pick<ToolkitDocument, "account"> & { readonly baseUrl: string };

/**
 * Returns the address to which calls are sent. `given`: an address, or a number in the document's list of servers; if empty, the first
 * https address. Throws ImportError if svc cannot use the address.
 */
export function serverOf(
  root: DocumentNode,
  { given, documentUrl }: { readonly given: string; readonly documentUrl: string },
): ImportedServer {
  const servers = listOf(root["servers"]).filter(isObject);
  const made = servers.map((server) => importedServer(server, documentUrl));
  if (given !== "") return choose(given, { servers, made, documentUrl });
  const found = made.find((server) => server !== undefined && faultOfBaseUrl(server.baseUrl) === undefined);
  if (found !== undefined) return found;
  const urls = servers.map(({ url }) => JSON.stringify(textOf(url).slice(0, 200)));
  const problem =
    urls.length === 0
      ? "the document has no server"
      : `no server of the document is an https address: ${urls.slice(0, 5).join(", ")}`;
  throw new ImportError("BASE_URL_NEEDED", problem, "Give the address of the app as server.");
}

/**
 * Returns the host of a base URL, if it belongs to another domain than the document at `documentUrl`. Returns an empty text if the domain is
 * the same, or if `documentUrl` is empty. Values that a person enters are kept as `{{account.name}}`.
 */
export function foreignHostOf(baseUrl: string, documentUrl: string): string {
  const host = /^https?:\/\/([^/?#]+)/i.exec(baseUrl)?.[1] ?? "";
  const from = URL.parse(documentUrl)?.hostname;
  const to = URL.parse(`https://${host.replaceAll(/\{\{[^}]*\}\}/g, "1")}`)?.hostname;
  if (from === undefined || from === to) return "";
  const domain = to === undefined ? undefined : registrableDomain(to);
  return domain !== undefined && domain === registrableDomain(from) ? "" : host;
}

/**
 * True if one of the servers that an operation or its path names is the address to which the toolkit sends its calls. `servers`: the list in
 * the document. `baseUrl`: address of the toolkit.
 */
export function isServedAt(servers: unknown, baseUrl: string, documentUrl: string): boolean {
  return listOf(servers)
    .filter(isObject)
    .some((server) => importedServer(server, documentUrl)?.baseUrl === baseUrl);
}

/** Servers of a document. `made`: their addresses; undefined for one that svc cannot resolve. */
type Servers = {
  readonly servers: readonly DocumentNode[];
  readonly made: readonly (ImportedServer | undefined)[];
  readonly documentUrl: string;
};

function choose(given: string, { servers, made, documentUrl }: Servers): ImportedServer {
  const server = /^\d{1,3}$/.test(given) ? made[Number(given) - 1] : importedServer({ url: given }, documentUrl);
  const fault = server === undefined ? undefined : faultOfBaseUrl(server.baseUrl);
  if (server !== undefined && fault === undefined) return server;
  const url = /^\d{1,3}$/.test(given) ? textOf(servers[Number(given) - 1]?.["url"]).slice(0, 200) : "";
  if (server === undefined && url !== "") {
    const relative = `server ${given} of the document is ${JSON.stringify(url)}, which is relative to the address of the document`;
    throw new ImportError(
      "BASE_URL_NEEDED",
      relative,
      `Give the whole address, such as https://HOST/${url.replace(/^\/+/, "")}.`,
    );
  }
  const problem = `server ${JSON.stringify(given.slice(0, 200))} ${fault?.[0] ?? `is not one of the ${made.length} servers of the document`}`;
  throw new ImportError("BASE_URL_NEEDED", problem, "Give an https address, or the number of a server, from 1.");
}

function importedServer({ url, variables }: DocumentNode, documentUrl: string): ImportedServer | undefined {
  if (typeof url !== "string" || url.length > 2_000) return undefined;
  const account: ReturnType<typeof accountVariable>[] = [];
  const text = withHttps(url, objectOf(variables)).replaceAll(/\{([^{}]{1,100})\}/g, (_match, name: string) => {
    const variable = objectOf(objectOf(variables)[name]);
    const shown = variableName(name);
    if (account.every((other) => other.name !== shown)) account.push(accountVariable(shown, variable));
    return `{{account.${shown}}}`;
  });
  const absolute = /^https?:\/\//i.test(text) ? text : joined(text, documentUrl);
  return absolute === undefined
    ? undefined
    : { baseUrl: absolute.replace(/\/+$/, ""), ...(account.length > 0 && { account }) };
}

/** Returns an address whose scheme is a variable, such as `{protocol}://{host}`, with `https` if the variable may be so. */
function withHttps(url: string, variables: DocumentNode): string {
  const [scheme = "", name = ""] = /^\{([^{}]{1,100})\}(?=:\/\/)/.exec(url) ?? [];
  if (scheme === "") return url;
  const { enum: allowed } = objectOf(variables[name]);
  return allowed === undefined || listOf(allowed).includes("https") ? `https${url.slice(scheme.length)}` : url;
}

function variableName(name: string): string {
  return snakeCase(name).slice(0, 60).replace(/_$/, "") || "value";
}

/**
 * A base address with the key of an account as a path segment. `segment`: this segment in the document, such as `{token}`. `prefix`: the
 * beginning of each operation's path that the base address now contains, such as `/{token}`; may be empty.
 */
export type KeyedServer = { readonly server: ImportedServer; readonly segment: string; readonly prefix: string };

/**
 * Returns the base address with the key of an account in the path segment that holds `{name}`: a segment of the address, or the first
 * segment of all paths. Returns undefined if there is no such segment.
 */
export function withPathKey(server: ImportedServer, name: string, paths: readonly string[]): KeyedServer | undefined {
  const variable = variableName(name);
  const segments = server.baseUrl.split("/");
  const at = segments.findIndex((segment, index) => index > 2 && segment.includes(`{{account.${variable}}}`));
  const segment = segments[at];
  if (segment !== undefined) {
    const { account = [], ...others } = server;
    const left = account.filter((entry) => entry.name !== variable);
    const baseUrl = segments.with(at, keySegment).join("/");
    if (baseUrl.includes(`{{account.${variable}}}`)) return undefined;
    const keyed = { ...others, baseUrl, ...(left.length > 0 && { account: left }) };
    return { server: keyed, segment: segment.replace(`{{account.${variable}}}`, `{${name}}`), prefix: "" };
  }
  const [first = "", ...others] = new Set(paths.map((path) => path.split("/")[1] ?? ""));
  if (others.length > 0 || !first.includes(`{${name}}`)) return undefined;
  return { server: { ...server, baseUrl: `${server.baseUrl}/${keySegment}` }, segment: first, prefix: `/${first}` };
}

/**
 * Returns a relative address as an absolute one, resolved against the address of the document. Returns undefined if the document's address
 * is unknown, or if the result is not a valid address.
 */
function joined(text: string, documentUrl: string): string | undefined {
  const base = URL.parse(documentUrl);
  if (base === null) return undefined;
  if (text.startsWith("//")) return `${base.protocol}${text}`;
  if (text.startsWith("/")) return `${base.origin}${text}`;
  return text.includes("{{") ? undefined : URL.parse(text, documentUrl)?.href;
}

function accountVariable(
  name: string,
  variable: DocumentNode,
): { name: string; description: string; example?: string; pattern?: string } {
  const text = safeText(variable["description"], 150) ?? "";
  // A value that is no plain text says nothing to the person who enters it.
  const values = listOf(variable["enum"]).map((value) => safeText(textOf(value), 60) ?? "");
  const shown = values.filter((value) => value !== "").slice(0, 8);
  const allowed = shown.length === 0 ? "" : ` One of: ${shown.join(", ")}.`;
  const description =
    `${text.length >= 8 ? text : `Value of ${name.replaceAll("_", " ")} in the address of the app.`}${allowed}`.slice(
      0,
      200,
    );
  const example = safeText(textOf(variable["default"]), 200) ?? "";
  const allValues = listOf(variable["enum"]).map(textOf);
  const pattern = example === "" || allValues.includes(example) ? patternOf(allValues) : undefined;
  return { name, description, ...(example !== "" && { example }), ...(pattern !== undefined && { pattern }) };
}

/** Returns a pattern that only the given values match. Undefined if there are none or many, or if one is unusual. */
function patternOf(values: readonly string[]): string | undefined {
  const isUsual = values.every((value) => /^[\w.-]{1,60}$/.test(value));
  if (values.length === 0 || values.length > 50 || !isUsual) return undefined;
  return `^(?:${values.map((value) => value.replaceAll(".", "\\.")).join("|")})$`;
}
