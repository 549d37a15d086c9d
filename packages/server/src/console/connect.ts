import { bindingOf, isObject, type JsonObject } from "@svc/core";
import type { Node } from "@svc/node";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { requireToken } from "./answer.ts";
import { consoleFaults } from "./errors.ts";
import { findGoodLink, type LinkOptions, linkHelp, withinLimit } from "./links.ts";
import { type PageCall, textField } from "./page-call.ts";

// /console/connect, for the page of a link to a connection. GET is the page itself, and changes nothing; neither does this:
//   POST {"token": "…"}: what is to be filled in. Answers {"toolkitName", "spec", "expiresAt"}; spec is a ToolkitConnectSpec in the JSON of
//     svc.v1, whose authSchemes has the link's scheme alone.
//   POST {"token", "connect": {"accountVariables": {"name": "…"}, "apiKey": "…", "basic": {"username", "password"}}}: connects, as
//     InitiateConnection does; what the scheme does not take is left out. Answers {"state": "active", "authorizeUrl": ""}, and the link is
//     spent; under oauth2 {"state": "pending", "authorizeUrl": "…"}: the page leads there, and the link is spent once consent was given.
// Refusals: LINK_INVALID (401), whose message says why the link is dead and whose help whom to ask; SIGN_INS_EXCEEDED (429); ORIGIN_REFUSED
// (403); those of InitiateConnection, CREDENTIAL_REFUSED among them, with `field` by its name there.

/** Dependencies of connecting through a link. */
export type ConnectOptions = LinkOptions & { readonly connectLinks: Node["connectLinks"]; readonly audit: AuditLog };

/** Creates the POST of `/console/connect`. */
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
  throw consoleFaults.REQUEST_MALFORMED(name, `${name} is no object`, `Send ${name} as a JSON object.`);
}
