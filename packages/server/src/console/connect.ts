import { bindingOf, isObject, type JsonObject } from "@svc/core";
import type { Node } from "@svc/node";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { requireToken } from "./answer.ts";
import { consoleFaults } from "./errors.ts";
import { findGoodLink, type LinkOptions, linkHelp, withinLimit } from "./links.ts";
import { type PageCall, textField } from "./page-call.ts";

// The path /console/connect, used by the page on which a person connects an account through a link. GET returns the page and changes
// nothing.
// POST {"token": "…"} returns what the person must fill in and changes nothing either: {"toolkitName", "spec", "expiresAt"}. `spec` is a
// ToolkitConnectSpec in the JSON form of svc.v1; its authSchemes contains only the scheme of the link.
// POST {"token", "connect": {"accountVariables": {"name": "…"}, "apiKey": "…", "basic": {"username", "password"}}} connects the account,
// like InitiateConnection. Fields that the scheme does not use are omitted. It returns {"state": "active", "authorizeUrl": ""}, and the
// link is used up. For oauth2 it returns {"state": "pending", "authorizeUrl": "…"}: the page redirects to this address, and the link is
// used up when the person gives consent.
// Errors: LINK_INVALID (401), with the reason in its message and, in its help, whom to ask for a new link; SIGN_INS_EXCEEDED (429);
// ORIGIN_REFUSED (403); and the errors of InitiateConnection, such as CREDENTIAL_REFUSED, whose `field` has the name that
// InitiateConnection uses.

/** Dependencies of the handler by which a person connects an account through a connect link. */
export type ConnectOptions = LinkOptions & { readonly connectLinks: Node["connectLinks"]; readonly audit: AuditLog };

/**
 * Creates the handler for POST requests to `/console/connect`. The page behind a connect link uses it to get its content and to connect an
 * account.
 */
export function createConnect(options: ConnectOptions): PageCall {
  const { connectLinks, audit } = options;
  return async (body, req) => {
    const token = requireToken(body);
    const { link, key } = await withinLimit(options, req, token, () => findGoodLink(options, "connect", token));
    const given = objectField(body, "connect");
    if (given !== undefined) options.limit.act(link.id);
    const { toolkitSlug = "", entityId = "" } = link.target.connect ?? {};
    const about = { projectId: link.projectId, subject: toolkitSlug, entityId };
    const json =
      given === undefined
        ? await connectLinks.show(link)
        : await auditAction(
            audit,
            { ...about, actor: { kind: "link" }, action: "ConnectLink.Connect" },
            () => connectLinks.connect(link, { role: key.role, binding: bindingOf(key) }, readGiven(given)),
            (connected) => (connected === "used" ? "unauthenticated" : "ok"),
          );
    if (json === "used")
      throw consoleFaults.LINK_INVALID("the link was used already: its account is connected", linkHelp("connect"));
    return { json };
  };
}

function readGiven(given: JsonObject): Parameters<Node["connectLinks"]["connect"]>[2] {
  const variables = objectField(given, "accountVariables") ?? {};
  const basic = objectField(given, "basic");
  return {
    accountVariables: Object.fromEntries(
      Object.keys(variables).map((name) => [name, textField(variables, name) ?? ""]),
    ),
    apiKey: textField(given, "apiKey") ?? "",
    basic: basic && { username: textField(basic, "username") ?? "", password: textField(basic, "password") ?? "" },
  };
}

function objectField(body: JsonObject, name: string): JsonObject | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (isObject(value)) return value as JsonObject;
  throw consoleFaults.REQUEST_MALFORMED(name, `${name} is not an object`, `Send ${name} as a JSON object.`);
}
