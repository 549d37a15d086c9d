import type { AppRequest } from "@svc/connections";
import { httpTargetOf, isObject, scalarText } from "@svc/core";
import { userAgent } from "../call/build-request.ts";

/** A request to a host, or why it cannot be sent. No fault quotes a value: any may be a secret, or a row's. */
export type BuiltRequest = { readonly request: AppRequest; readonly host: string } | { readonly fault: string };

/** A value that has no place in a request. */
class UnfitValueError extends Error {
  override name = "UnfitValueError";
}

const bounds = { url: 8_192, header: 8_192, body: 1_048_576 };

/**
 * Builds the request that the arguments of an http step describe: `method`, `url` as texts and values by turns, `headers`, `query`
 * and `body`. A value stays in its segment of the path, or in its parameter, whatever it holds.
 */
export function buildHttpRequest(args: Readonly<Record<string, unknown>>): BuiltRequest {
  try {
    const url = urlOf(args["url"], args["query"]);
    const target = httpTargetOf(url);
    if ("fault" in target) return { fault: `its url ${target.fault}` };
    const headers = headersOf(args["headers"]);
    const body = args["body"] === undefined ? undefined : bodyOf(args["body"], headers["content-type"]);
    const request = {
      method: String(args["method"]),
      url,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
        "user-agent": userAgent,
      },
      body,
    };
    return { request, host: target.host };
  } catch (error) {
    if (error instanceof UnfitValueError) return { fault: error.message };
    throw error;
  }
}

function urlOf(parts: unknown, query: unknown): string {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  const path = list.map((part, index) => (index % 2 === 0 ? String(part) : segmentOf(part)));
  const text = path.join("");
  // As URL reads them: these would lead to another path than the one that is written down.
  if (/(^|[/\\])(\.|%2e){1,2}([/\\?]|$)/i.test(text.slice(text.indexOf("://") + 3))) {
    throw new UnfitValueError("its url has a segment that is . or ..");
  }
  const search = parametersOf(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const url = search.length === 0 ? text : `${text}${text.includes("?") ? "&" : "?"}${search.join("&")}`;
  if (url.length > bounds.url) throw new UnfitValueError(`its url is longer than ${bounds.url} characters`);
  return url;
}

/** Without anything there another path would be meant: that of a list in place of one of its items. */
function segmentOf(part: unknown): string {
  const text = textOf(part, "a value in its url");
  if (text === "") throw new UnfitValueError("a value in its url is empty");
  return encode(text);
}

function encode(text: string): string {
  if (!text.isWellFormed()) throw new UnfitValueError("its url has a value that is not well-formed Unicode");
  return encodeURIComponent(text);
}

function parametersOf(query: unknown): [name: string, value: string][] {
  if (!isObject(query)) return [];
  return Object.entries(query).flatMap(([name, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((item): [string, string] => [name, textOf(item, `query.${name}`)]);
  });
}

function headersOf(headers: unknown): Record<string, string> {
  const entries = isObject(headers) ? Object.entries(headers) : [];
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const text = textOf(value, `headers.${name}`);
      // What else stands in a line would end it, or be read differently on the way.
      const isLine = /^[\x20-\x7e\t]*$/.test(text) && text.length <= bounds.header;
      if (!isLine)
        throw new UnfitValueError(`headers.${name} is no single line of up to ${bounds.header} ASCII characters`);
      return [name.toLowerCase(), text.trim()];
    }),
  );
}

function bodyOf(body: unknown, contentType: string | undefined): string {
  const isJson = contentType === undefined || isJsonType(contentType);
  if (!isJson && typeof body !== "string") {
    throw new UnfitValueError("its body is no text, and its content-type is not JSON");
  }
  const text = isJson ? JSON.stringify(body) : String(body);
  if (Buffer.byteLength(text) <= bounds.body) return text;
  throw new UnfitValueError(`its body is longer than ${bounds.body} bytes`);
}

function textOf(value: unknown, what: string): string {
  const text = scalarText(value);
  if (text === undefined) throw new UnfitValueError(`${what} is no text, number, true or false`);
  return text;
}

/** Whether a media type is JSON: `application/json`, or one that ends so. */
export function isJsonType(contentType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(contentType);
}
