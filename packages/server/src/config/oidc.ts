import { createAddressGuard, formatValue, type ProjectId, parseId, type Role, roles } from "@svc/core";
import type { ConfigReader } from "./reader.ts";

/**
 * Role that a group of the company's identity provider gives to its members. `project`: a project's id or name, or `*` for every project.
 */
export type GroupRole =
  | { readonly group: string; readonly role: "administrator" }
  | { readonly group: string; readonly role: Role; readonly project: "*" | ProjectId | { readonly name: string } };

/** Settings of the company's identity provider (OpenID Connect), with whose accounts people sign in to the console. */
export type OidcSettings = {
  /** Address of the provider. Its discovery document names the same address as its issuer. */
  readonly issuer: string;
  readonly clientId: string;
  /** Mail domains of the accounts that may sign in, in lower case. Empty if all may. */
  readonly allowedDomains: readonly string[];
  readonly groups: readonly GroupRole[];
};

/** Returns the settings of the identity provider; undefined if there are none. */
export function readOidc(reader: ConfigReader): OidcSettings | undefined {
  const issuer = reader.parsed("SVC_OIDC_ISSUER", parseIssuer);
  const clientId = reader.text("SVC_OIDC_CLIENT_ID");
  const groups = reader.parsed("SVC_OIDC_GROUPS", parseGroups) ?? [];
  const allowedDomains = reader
    .list("SVC_OIDC_ALLOWED_DOMAINS")
    .map((domain) => domain.replace(/^@/, "").toLowerCase());
  const isNamed = reader.text("SVC_OIDC_ISSUER") !== undefined;
  // The secret itself is read each time it is used, so that a reload replaces it.
  reader.parsed("SVC_OIDC_CLIENT_SECRET", requireVisible);
  if (isNamed !== (clientId !== undefined)) {
    const [unset, set] = isNamed ? names : names.toReversed();
    reader.fault(unset, `is unset, and ${set} is set; set both, or neither`);
  }
  return issuer === undefined || clientId === undefined ? undefined : { issuer, clientId, allowedDomains, groups };
}

const names = ["SVC_OIDC_CLIENT_ID", "SVC_OIDC_ISSUER"] as const;

function requireVisible(text: string): void {
  if (!/^[\x21-\x7e]*$/.test(text)) throw new Error("has characters that are not visible ASCII");
}

function parseIssuer(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.search === "" && url.hash === "" && url.username === "";
  if (isPlain && (url.protocol === "https:" || (url.protocol === "http:" && isLoopbackName(url.hostname)))) return text;
  throw new Error(`${formatValue(text)} is not an https address without credentials, query and fragment`);
}

/** True if a host is this machine. Only there may a provider answer without TLS. */
function isLoopbackName(host: string): boolean {
  const verdict = createAddressGuard({ allowedRanges: [] }).judge(host.replace(/^\[|\]$/g, ""));
  return host === "localhost" || (!verdict.allowed && verdict.range === "loopback");
}

/**
 * Returns the roles in the text of SVC_OIDC_GROUPS. The last `=` of an entry separates the group from its role, because names of groups may
 * contain `=` and commas. Throws an Error that quotes a wrong entry.
 */
function parseGroups(text: string): GroupRole[] {
  return text
    .split(/[;\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map(parseGroup);
}

function parseGroup(entry: string): GroupRole {
  const at = entry.lastIndexOf("=");
  const [group, given] = [entry.slice(0, Math.max(at, 0)).trim(), entry.slice(at + 1).trim()];
  if (group !== "" && given === "administrator") return { group, role: given };
  const [role, ...rest] = given.split("@");
  const name = rest.join("@").trim();
  const known = roles.find((one) => one === role?.trim());
  if (group !== "" && known !== undefined && name !== "")
    return { group, role: known, project: name === "*" ? name : (parseId("prj", name) ?? { name }) };
  throw new Error(
    `${formatValue(entry)} is not of the form group=administrator or group=role@project, with one of the roles ${roles.join(", ")}`,
  );
}
