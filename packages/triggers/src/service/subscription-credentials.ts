import { type AddressGuard, checkEndpointUrl, type ProjectId, type Sealer, type SubscriptionId } from "@svc/core";
import type { SubscriptionSettings } from "@svc/db/documents/subscriptions";
import type { Subscription, SubscriptionChange } from "@svc/db/subscriptions/repo";
import { type EndpointAuth, type EndpointCredentials, sealCredentials } from "@svc/delivery";
import type { EndpointCredentials as CredentialsMessage } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";

const refuse = triggerFaults.ENDPOINT_AUTH_INVALID;
/**
 * Limits of the request field `credentials`. `headers`: number of headers. `bytes`: size of the names and values of all headers together.
 * `text`: number of characters of one text for authentication, such as a bearer token.
 */
const bounds = { headers: 20, bytes: 4_096, text: 4_096 };

type Checked = { readonly guard: AddressGuard; readonly sealer: Sealer };
type Owner = { readonly projectId: ProjectId; readonly id: SubscriptionId };
type CredentialsChange = Pick<SubscriptionChange, "credentials" | "settings">;

/**
 * Returns the columns of a subscription that the credentials in a request change. `settings`: the settings after the other changes of the
 * request. Throws HEADER_NAME_REFUSED or ENDPOINT_AUTH_INVALID.
 */
export function changeOfCredentials(
  { guard, sealer }: Checked,
  owner: Owner,
  settings: SubscriptionSettings | null,
  sent: CredentialsMessage,
): CredentialsChange {
  const auth = checkAuth(guard, sent);
  const headers = checkHeaders(sent, auth !== undefined);
  if (headers.length === 0 && auth === undefined) return withoutCredentials(settings);
  const credentials: EndpointCredentials = { headers, auth };
  const shown = { headerNames: headers.map(([name]) => name), auth: auth?.kind ?? "" };
  return { credentials: sealCredentials(sealer, owner, credentials), settings: { ...settings, credentials: shown } };
}

/** Returns the change of a subscription's columns that removes its credentials and keeps its other settings. */
function withoutCredentials(settings: SubscriptionSettings | null): CredentialsChange {
  const { credentials: _cleared, ...kept } = settings ?? {};
  return { credentials: null, settings: Object.keys(kept).length === 0 ? null : kept };
}

/**
 * Returns a change that deletes the credentials, if the endpoint moves to another origin (scheme, host and port). Otherwise returns an
 * empty change.
 */
export function changeOfMove(
  before: Pick<Subscription, "endpointUrl" | "settings" | "credentials">,
  endpointUrl: string | undefined,
  settings: SubscriptionSettings | null,
): CredentialsChange {
  if (before.credentials === null || endpointUrl === undefined) return {};
  return new URL(endpointUrl).origin === new URL(before.endpointUrl).origin ? {} : withoutCredentials(settings);
}

/** Names of headers that svc sets itself or that belong to the connection. */
const refusedNames =
  /^(?:host|content-.*|connection|keep-alive|proxy-.*|transfer-encoding|te|trailer|upgrade|expect|webhook-.*|x-svc-.*|ce-.*)$/;
const namePattern = /^[!#$%&'*+.^_`|~\w-]{1,100}$/;
/** Pattern for a header value: visible ASCII characters, spaces and tabs, without a space at either end. */
const valuePattern = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

function checkHeaders({ headers }: CredentialsMessage, hasAuth: boolean): [string, string][] {
  const path = "credentials.headers";
  if (headers.length > bounds.headers)
    throw refuse(path, `has ${headers.length} headers`, `Send at most ${bounds.headers}.`);
  const bytes = headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (bytes > bounds.bytes) throw refuse(path, `has ${bytes} bytes`, `Send at most ${bounds.bytes}.`);
  const names = new Set<string>();
  return headers.map(({ name, value }, index) => {
    const lower = name.toLowerCase();
    const at = `${path}[${index}]`;
    const refuseName = (why: "malformed" | "reserved" | "repeated") =>
      triggerFaults.HEADER_NAME_REFUSED(`${at}.name`, name, why);
    if (!namePattern.test(name)) throw refuseName("malformed");
    if (refusedNames.test(lower) || (hasAuth && lower === "authorization")) throw refuseName("reserved");
    if (names.has(lower)) throw refuseName("repeated");
    names.add(lower);
    if (!valuePattern.test(value))
      throw refuse(`${at}.value`, "cannot be the value of a header", "Send visible ASCII characters.");
    return [name, value];
  });
}

function checkAuth(guard: AddressGuard, { basic, bearer, oauth2 }: CredentialsMessage): EndpointAuth | undefined {
  if ([basic, bearer, oauth2].filter(Boolean).length > 1)
    throw refuse("credentials", "have several authentications", "Send one of basic, bearer and oauth2.");
  if (basic !== undefined) {
    const { username, password } = basic;
    const isReadable = username !== "" && !username.includes(":") && isText(username) && isText(password);
    if (isReadable) return { kind: "basic", username, password };
    const fault = "lacks a user name, or has a colon or a control character in it";
    throw refuse("credentials.basic", fault, "Send a name without a colon.");
  }
  if (bearer !== undefined) {
    const { token } = bearer;
    if (valuePattern.test(token) && token.length <= bounds.text) return { kind: "bearer", token };
    throw refuse("credentials.bearer.token", "is not a token", "Send visible ASCII characters.");
  }
  if (oauth2 === undefined) return undefined;
  const { tokenUrl, clientId, clientSecret, scope, audience } = oauth2;
  if (clientId === "" || clientSecret === "" || ![clientId, clientSecret, scope, audience].every(isText))
    throw refuse("credentials.oauth2", "has no client id or secret", "Send clientId and clientSecret.");
  return { kind: "oauth2", tokenUrl: checkTokenUrl(guard, tokenUrl), clientId, clientSecret, scope, audience };
}

function checkTokenUrl(guard: AddressGuard, tokenUrl: string): string {
  try {
    return checkEndpointUrl(guard, tokenUrl);
  } catch {
    throw refuse("credentials.oauth2.tokenUrl", "is not an address that svc may call", "Send a public https URL.");
  }
}

function isText(text: string): boolean {
  return text.length <= bounds.text && text.isWellFormed() && !/\p{Cc}/u.test(text);
}
