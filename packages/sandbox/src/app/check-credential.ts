import type { AuthScheme } from "@svc/catalog";
import type { AppCall, AppRequest } from "@svc/connections";
import type { Template, TemplateTree } from "@svc/core";
import { headerOf } from "./match-request.ts";
import { type Refusal, unauthorized } from "./refusal.ts";

/** Whether an access token is one that this sandbox gave out for a toolkit, and still good. */
export type AcceptsToken = (token: string, toolkitSlug: string) => boolean;

/** The scheme whose credential a call carries, as its toolkit declares it; undefined when the toolkit declares no such scheme. */
export function schemeOf({ toolkit, scheme }: AppCall): AuthScheme | undefined {
  return toolkit.auth.find(({ type }) => type === scheme);
}

/** What is wrong with the credential of a request: its place, its form, or that no such token was given out. */
export function refuseCredential(request: AppRequest, call: AppCall, acceptsToken: AcceptsToken): Refusal | undefined {
  const scheme = schemeOf(call);
  switch (scheme?.type) {
    case undefined:
      return unauthorized(`${call.toolkit.slug} has no authentication of the kind ${call.scheme}`);
    case "none":
      return undefined;
    case "api_key":
      return refuseKey(request, scheme);
    case "basic":
      return refuseBasic(headerOf(request.headers, "authorization"));
    case "oauth2":
    case "client_credentials":
      return refuseToken(headerOf(request.headers, "authorization"), (token) => acceptsToken(token, call.toolkit.slug));
  }
}

function refuseKey(
  request: AppRequest,
  { placement, name, value }: AuthScheme & { type: "api_key" },
): Refusal | undefined {
  const place = placement === "header" ? `header ${name}` : `query parameter ${name}`;
  const given =
    placement === "header"
      ? headerOf(request.headers, name)
      : (URL.parse(request.url)?.searchParams.get(name) ?? undefined);
  if (given === undefined) return unauthorized(`the key is missing: it stands in ${place}`);
  return hasForm(given, value) ? undefined : unauthorized(`${place} must have the form ${formOf(value)}`);
}

/** A rendered key: the literal pieces in their places, and something for every placeholder. */
function hasForm(given: string, tree: TemplateTree): boolean {
  if (tree.kind !== "text") return tree.kind === "constant" && given === String(tree.value);
  const pieces = tree.template.parts.map((part) => (typeof part === "string" ? part : undefined));
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if (piece === undefined) {
      const next = pieces[index + 1];
      const end = next === undefined ? given.length : given.indexOf(next, at + 1);
      if (end <= at) return false;
      at = end;
    } else if (given.startsWith(piece, at)) at += piece.length;
    else return false;
  }
  return at === given.length;
}

function formOf(tree: TemplateTree): string {
  const parts: Template["parts"] = tree.kind === "text" ? tree.template.parts : [];
  return parts.map((part) => (typeof part === "string" ? part : `<${part.path.join(".")}>`)).join("");
}

function refuseBasic(header: string | undefined): Refusal | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(header ?? "") ?? [];
  if (encoded === undefined) return unauthorized("header Authorization must be Basic and base64", "Basic");
  const text = Buffer.from(encoded, "base64").toString("utf8");
  return text.includes(":") ? undefined : unauthorized("the Basic credential must be user:password", "Basic");
}

function refuseToken(header: string | undefined, accepts: (token: string) => boolean): Refusal | undefined {
  const [, token] = /^Bearer (\S+)$/.exec(header ?? "") ?? [];
  if (token === undefined) return unauthorized("header Authorization must be Bearer and the access token", "Bearer");
  if (accepts(token)) return undefined;
  return unauthorized("the access token is expired, or was not given out here", 'Bearer error="invalid_token"');
}
