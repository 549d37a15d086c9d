import { isObject } from "@svc/core";
import { faultOfHeaderName } from "../check/known-names.ts";
import type { AuthDocument } from "../read/documents.ts";
import { ImportError, OpenIdNeededError } from "./import-fault.ts";
import { type DocumentNode, resolved } from "./read.ts";
import { listOf, objectOf } from "./schema.ts";
import type { Operation } from "./select.ts";
import { textOf } from "./texts.ts";

/**
 * The authentication of an imported toolkit (the tools of one app). `remarks`: texts for the person who imports the toolkit, for example
 * about schemes that svc does not use.
 */
export type ImportedAuth = {
  readonly auth: readonly AuthDocument[];
  /** Name of the part of the path in which the app takes its key, such as `token` for `/{token}/items`. Undefined if no scheme has one. */
  readonly pathKey: string | undefined;
  readonly remarks: readonly string[];
  /** Returns the OAuth scopes that an operation of the document needs. Scopes of schemes that svc does not use are left out. */
  scopesOf(operation: Operation): readonly string[];
  /** False if the operation needs a credential, and all schemes that it accepts are unused. svc would send it another credential. */
  isAuthorized(operation: Operation): boolean;
};

/**
 * Addresses of an OpenID provider, read from its metadata at `url`. `issuer`: the provider's name for itself in the metadata. When a person
 * gives consent, svc accepts only answers from this issuer.
 */
export type OpenIdProvider = {
  readonly url: string;
  readonly issuer: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
};

/** How to choose the authentication of an import. `openId`: the provider whose metadata was read; undefined before it is needed. */
type AuthChoice = { readonly given: string; readonly openId: OpenIdProvider | undefined };

/**
 * Returns the authentication schemes of an OpenAPI document. `given`: the scheme that the caller chooses instead of the document's
 * (`bearer`, `basic`, `none`, `header:NAME`, `query:NAME` or `path:NAME`). If `given` is empty, the schemes of the document are used. Throws
 * ImportError if the choice is unknown, and OpenIdNeededError if the metadata of an OpenID provider is needed.
 */
export function authOf(
  root: DocumentNode,
  operations: readonly Operation[],
  { given, openId }: AuthChoice,
): ImportedAuth {
  const chosenKey = /^path:(.{1,100})$/.exec(given)?.[1];
  if (given !== "") {
    const auth = chosenKey === undefined ? [chosen(given)] : [];
    return { auth, pathKey: chosenKey, remarks: [], scopesOf: () => [], isAuthorized: () => true };
  }
  const schemes = objectOf(objectOf(root["components"])["securitySchemes"]);
  const uses = countUses(root, operations);
  const isAnyUsed = Object.keys(schemes).some((name) => uses.has(name));
  const auth = new Map<string, AuthDocument>();
  const scoped = new Set<string>();
  const used = new Set<string>();
  const remarks: string[] = [];
  let pathKey: string | undefined;
  for (const name of Object.keys(schemes).sort((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0))) {
    const scheme = resolved(root, schemes[name]);
    if (isAnyUsed && !uses.has(name) && scheme["in"] !== "path") {
      remarks.push(`${name.slice(0, 60)} is not used: no operation needs it`);
      continue;
    }
    const made = isOpenId(scheme)
      ? openIdSchemes(scheme, { openId, isTaken: auth.has("oauth2") || !uses.has(name) })
      : schemeOf(scheme);
    const taken = made.find(({ type }) => !auth.has(type));
    if (scheme["type"] === "apiKey" && scheme["in"] === "path") pathKey ??= textOf(scheme["name"]).slice(0, 100);
    if ((scheme["type"] === "oauth2" || isOpenId(scheme)) && made.length > 0) scoped.add(name);
    for (const document of made) if (!auth.has(document.type)) auth.set(document.type, document);
    if (taken !== undefined || made.some((document) => isSame(document, auth.get(document.type)))) used.add(name);
    if (taken === undefined)
      remarks.push(
        `${name.slice(0, 60)} is not used: ${made.length > 0 ? "another scheme has its kind" : whyUnused(scheme)}`,
      );
  }
  const pair = pairOf(root, operations, schemes);
  if (pair !== undefined && !auth.has("basic")) {
    auth.delete("api_key");
    auth.set("basic", pair);
    for (const name of uses.keys()) used.add(name);
    const [first, second] = (pair.place ?? []).map((place) => `the ${place.in} ${place.name}`);
    remarks.push(`the app wants two keys: the user name of an account is sent as ${first}, its password as ${second}`);
  }
  return {
    auth: auth.size === 0 ? [{ type: "none" }] : [...auth.values()],
    pathKey,
    remarks,
    scopesOf: ({ node }) => scopesIn(requirementsOf(root, node), scoped),
    isAuthorized: ({ node }) => auth.size === 0 || pathKey !== undefined || takesOne(requirementsOf(root, node), used),
  };
}

function isSame(one: AuthDocument, other: AuthDocument | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** True if an operation with the given security requirements needs no credential, or accepts one of the used schemes. */
function takesOne(requirements: readonly unknown[], used: ReadonlySet<string>): boolean {
  const wanted = requirements.filter(isObject).map((requirement) => Object.keys(requirement));
  return wanted.length === 0 || wanted.some((names) => names.length === 0 || names.some((name) => used.has(name)));
}

/** Returns the places of the credential in a request, such as `header x-api-key`, in lower case. */
export function credentialPlaces(auth: readonly AuthDocument[]): ReadonlySet<string> {
  const places = auth.flatMap((scheme) => {
    if (scheme.type === "basic") return (scheme.place ?? []).map((place) => `${place.in} ${place.name}`);
    return scheme.type === "api_key" && scheme.placement !== "path" ? [`${scheme.placement} ${scheme.name}`] : [];
  });
  return new Set(places.map((place) => place.toLowerCase()));
}

function chosen(given: string): AuthDocument {
  const [, place, name = ""] = /^(header|query):(.+)$/.exec(given) ?? [];
  if (given === "basic" || given === "none") return { type: given };
  if (given === "bearer") return keyIn("header", "Authorization", "Bearer {{credential.key}}");
  if (place === "query" && /^[\w.~:$[\]-]{1,100}$/.test(name)) return keyIn("query", name);
  if (place === "header" && name.length <= 100 && faultOfHeaderName(name) === undefined) return keyIn("header", name);
  const advice = "Give bearer, basic, none, header:NAME, query:NAME or path:NAME.";
  throw new ImportError("SOURCE_INVALID", `auth is ${JSON.stringify(given.slice(0, 100))}`, advice, "openapi.auth");
}

function keyIn(placement: "header" | "query", name: string, value = "{{credential.key}}"): AuthDocument {
  return { type: "api_key", placement, name, value };
}

function schemeOf(scheme: DocumentNode): AuthDocument[] {
  const { type, name } = scheme;
  if (type === "http") {
    const kind = textOf(scheme["scheme"]).toLowerCase();
    if (kind === "basic") return [{ type: "basic" }];
    return kind === "bearer" ? [keyIn("header", "Authorization", "Bearer {{credential.key}}")] : [];
  }
  if (type === "apiKey" && typeof name === "string" && name.length <= 100) {
    if (scheme["in"] === "header" && faultOfHeaderName(name) === undefined) return [keyIn("header", name)];
    if (scheme["in"] === "query" && /^[\w.~:$[\]-]+$/.test(name)) return [keyIn("query", name)];
    return [];
  }
  return type === "oauth2" ? flowsOf(objectOf(scheme["flows"])) : [];
}

function isOpenId({ type }: DocumentNode): boolean {
  return type === "openIdConnect";
}

/** Returns the schemes of an OpenID provider. `isTaken`: true if no operation needs the provider, or if OAuth has another one. */
function openIdSchemes(
  { openIdConnectUrl: url }: DocumentNode,
  { openId, isTaken }: Pick<AuthChoice, "openId"> & { readonly isTaken: boolean },
): AuthDocument[] {
  const isLoopback = typeof url === "string" && /^http:\/\/127\.0\.0\.1:\d+\//.test(url);
  if (isTaken || typeof url !== "string" || !(isAddress(url) || isLoopback)) return [];
  if (openId?.url !== url) throw new OpenIdNeededError(url);
  const { authorizeUrl, tokenUrl, issuer } = openId;
  return [{ type: "oauth2", authorizeUrl, tokenUrl, defaultScopes: [], refresh: true, issuer }];
}

function flowsOf({ authorizationCode, clientCredentials }: DocumentNode): AuthDocument[] {
  const [code, client] = [objectOf(authorizationCode), objectOf(clientCredentials)];
  const made: AuthDocument[] = [];
  if (isAddress(code["authorizationUrl"]) && isAddress(code["tokenUrl"])) {
    made.push({
      type: "oauth2",
      authorizeUrl: code["authorizationUrl"],
      tokenUrl: code["tokenUrl"],
      defaultScopes: [],
      refresh: true,
    });
  }
  if (isAddress(client["tokenUrl"])) made.push({ type: "client_credentials", tokenUrl: client["tokenUrl"] });
  return made;
}

/**
 * Returns an authentication scheme for an app that wants two keys in each request, such as an id and a secret. svc keeps one key as the
 * user name of the account and the other as its password. Returns undefined unless all operations that need keys need the same two.
 */
function pairOf(
  root: DocumentNode,
  operations: readonly Operation[],
  schemes: DocumentNode,
): (AuthDocument & { type: "basic" }) | undefined {
  const wanted = operations
    .flatMap(({ node }) => requirementsOf(root, node).filter(isObject))
    .map((one) => Object.keys(one));
  const [names, ...others] = new Set(wanted.filter(({ length }) => length > 0).map((list) => list.sort().join("\n")));
  const pair = names?.split("\n") ?? [];
  if (others.length > 0 || pair.length !== 2) return undefined;
  const keys = pair.flatMap((name) => schemeOf(resolved(root, schemes[name])));
  const place = keys.flatMap((key, index) => {
    const secret = index === 0 ? "username" : "password";
    return key.type === "api_key" && key.placement !== "path"
      ? [{ in: key.placement, name: key.name, value: key.value.replace("credential.key", `credential.${secret}`) }]
      : [];
  });
  return place.length === 2 ? { type: "basic", place } : undefined;
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^https:\/\/[^\s{}]+$/.test(value) && value.length <= 2_000;
}

function whyUnused({ type, in: place, scheme }: DocumentNode): string {
  if (type === "apiKey" && place === "path") return "no path segment of the address has its name";
  if (type === "apiKey") return `a key in a ${textOf(place).slice(0, 20)} is not supported`;
  if (type === "http") return `the HTTP scheme ${textOf(scheme).slice(0, 20)} is not supported`;
  if (type === "oauth2")
    return "only the flows authorizationCode and clientCredentials with https addresses are supported";
  if (type === "openIdConnect") return "no operation needs it, another scheme has its kind, or it has no https address";
  return `${textOf(type).slice(0, 20)} is not supported`;
}

function requirementsOf(root: DocumentNode, node: DocumentNode): readonly unknown[] {
  return listOf(node["security"] ?? root["security"]);
}

function countUses(root: DocumentNode, operations: readonly Operation[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const { node } of operations) {
    for (const requirement of requirementsOf(root, node).filter(isObject)) {
      for (const name of Object.keys(requirement)) uses.set(name, (uses.get(name) ?? 0) + 1);
    }
  }
  return uses;
}

function scopesIn(requirements: readonly unknown[], scoped: ReadonlySet<string>): string[] {
  const found = requirements.filter(isObject).flatMap((requirement) => {
    return Object.entries(requirement).flatMap(([name, scopes]) => (scoped.has(name) ? listOf(scopes) : []));
  });
  const texts = found.filter(
    (scope): scope is string => typeof scope === "string" && /^[\x21-\x7e]{1,200}$/.test(scope),
  );
  return [...new Set(texts)].filter((scope) => !scope.includes("{{"));
}
