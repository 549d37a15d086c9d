import {
  type Action,
  bindBaseUrl,
  fieldsText,
  hostArguments,
  type RenderedRequest,
  RequestValueError,
  renderRequest,
  type Toolkit,
} from "@svc/catalog";
import type { AppRequest, CallableAccount } from "@svc/connections";
import { formatValue } from "@svc/core";
import type { CallOutcome } from "../../outcome.ts";

/** Reason why the request of a tool call cannot be built. `outcome`: the outcome with which the tool call ends. */
export type RequestFault = { readonly outcome: CallOutcome; readonly message: string };

/** Name with which svc identifies itself to the app (user-agent header). Definitions and arguments cannot replace it. */
export const userAgent = "svc/0.1";

/**
 * Returns the request of a call, complete except for the credential. A definition may replace the JSON media type in `accept` and
 * `content-type`. In the sandbox, the host is a placeholder that cannot be reached.
 */
export function buildRequest(
  {
    toolkit,
    action,
    params,
    account,
  }: {
    toolkit: Toolkit;
    action: Action;
    params: Readonly<Record<string, unknown>>;
    account: CallableAccount;
  },
  { isSandbox }: { isSandbox: boolean },
): AppRequest | RequestFault {
  const scope = { params, account: account.variables };
  const base = baseUrlOf(toolkit, scope, isSandbox);
  if (typeof base !== "string") return base;
  try {
    return complete(base, renderRequest(toolkit, action, scope), action);
  } catch (error) {
    if (error instanceof RequestValueError) return { outcome: "invalid_arguments", message: error.message };
    throw error;
  }
}

function baseUrlOf(
  toolkit: Toolkit,
  scope: Parameters<typeof bindBaseUrl>[1],
  isSandbox: boolean,
): string | RequestFault {
  if (isSandbox) return `https://${toolkit.slug.replaceAll("_", "-")}.sandbox.invalid`;
  const bound = bindBaseUrl(toolkit, scope);
  if ("url" in bound) return bound.url;
  if ("unbound" in bound) {
    return {
      outcome: "not_bound",
      message: `this deployment has no address for ${toolkit.slug}: its deployment file lacks toolkits.${toolkit.slug}.${bound.unbound}`,
    };
  }
  const isArgument = hostArguments(toolkit).length > 0;
  return { outcome: isArgument ? "invalid_arguments" : "account_unusable", message: bound.fault };
}

function complete(base: string, rendered: RenderedRequest, action: Action): AppRequest | RequestFault {
  const { method, path, query, headers, body, form } = rendered;
  const search = formText(query, "query parameter");
  if (typeof search !== "string") return search;
  const content = form === undefined ? JSON.stringify(body) : formText(form, "form field");
  if (typeof content === "object") return content;
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  // A tool whose body is left out in this call has no content that the header could describe.
  const isBodyLeftOut = body === undefined && action.request.body !== undefined;
  const declared = Object.fromEntries(named.filter(([name]) => !(isBodyLeftOut && name === "content-type")));
  return {
    method,
    url: `${base}${path}${search === "" ? "" : `?${search}`}`,
    headers: {
      accept: action.response.as === "text" ? "*/*" : "application/json",
      ...(body !== undefined && { "content-type": form === undefined ? "application/json" : formType }),
      ...declared,
      "user-agent": userAgent,
    },
    body: body === undefined ? undefined : content,
  };
}

const formType = "application/x-www-form-urlencoded";

/**
 * Returns names and values as the text of a query or of an HTML form. If one of them cannot be sent, returns the fault. `what`: word for
 * such a pair of name and value, with which the message of the fault begins.
 */
function formText(fields: RenderedRequest["query"], what: string): string | RequestFault {
  const broken = fields.find(([name, value]) => !(name.isWellFormed() && value.isWellFormed()));
  if (broken === undefined) return fieldsText(fields);
  const message = `${what} ${broken[0].toWellFormed()} is ${formatValue(broken[1])}, which is not well-formed Unicode`;
  return { outcome: "invalid_arguments", message };
}
