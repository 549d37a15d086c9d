import type { AppRequest } from "@svc/connections";
import { formatValue, httpTargetOf, isObject, methodOverrideOf, scalarText } from "@svc/core";
import { userAgent } from "../call/prepare/build-request.ts";

/**
 * A request to a host. If it cannot be sent: the wrong part, and the reason. The reason quotes no value, because the value may be a secret
 * or come from a database row.
 */
export type BuiltRequest =
  | { readonly request: AppRequest; readonly host: string }
  | { readonly fault: { readonly pointer: string; readonly message: string } };

/** Error for a value that cannot be part of a request. */
class UnfitValueError extends Error {
  override name = "UnfitValueError";
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

const bounds = { url: 8_192, header: 8_192, body: 1_048_576 };

/** Returns the HTTP request of an http step, built from the step's arguments. A value in the URL cannot change other parts of the URL. */
export function buildHttpRequest(args: Readonly<Record<string, unknown>>): BuiltRequest {
  try {
    const url = urlOf(args["url"], args["query"]);
    const target = httpTargetOf(url);
    if ("fault" in target) return { fault: { pointer: "/url", message: target.fault } };
    const headers = headersOf(args["headers"]);
    const query = new URL(url).searchParams.keys();
    const override = methodOverrideOf({ headers, query, body: args["body"] });
    if (override !== undefined) {
      throw new UnfitValueError(
        "",
        `has a field ${formatValue(override)}, which would change the method of the request`,
      );
    }
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
    if (error instanceof UnfitValueError) return { fault: { pointer: error.pointer, message: error.message } };
    throw error;
  }
}

/** Returns the address as it would be sent, without the parameters of `query`. If the address is invalid, returns the reason. */
export function readHttpAddress(parts: unknown): { readonly address: string } | { readonly fault: string } {
  try {
    return { address: addressOf(parts) };
  } catch (error) {
    if (error instanceof UnfitValueError) return { fault: error.message };
    throw error;
  }
}

function addressOf(parts: unknown): string {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  const path = list.map((part, index) => (index % 2 === 0 ? String(part) : segmentOf(part)));
  const text = path.join("");
  // A path segment `.` or `..` is refused in every spelling, because the request would go to another path than the program shows.
  if (/(^|[/\\])(\.|%2e){1,2}([/\\?]|$)/i.test(text.slice(text.indexOf("://") + 3))) {
    throw new UnfitValueError("/url", "has a segment that is . or ..");
  }
  return text;
}

function urlOf(parts: unknown, query: unknown): string {
  const text = addressOf(parts);
  const search = parametersOf(query, "/query").map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const url = search.length === 0 ? text : `${text}${text.includes("?") ? "&" : "?"}${search.join("&")}`;
  if (url.length > bounds.url) throw new UnfitValueError("/url", `is longer than ${bounds.url} characters`);
  return url;
}

/**
 * Returns the text of a path segment. An empty segment is refused: the path would then mean something else, for example a whole list
 * instead of one item.
 */
function segmentOf(part: unknown): string {
  const text = textOf(part, "/url");
  if (text === "") throw new UnfitValueError("/url", "has a value that is empty");
  return encode(text);
}

function encode(text: string): string {
  if (!text.isWellFormed()) throw new UnfitValueError("/url", "has a value that is not well-formed Unicode");
  return encodeURIComponent(text);
}

function parametersOf(object: unknown, pointer: string): [name: string, value: string][] {
  if (!isObject(object)) return [];
  return Object.entries(object).flatMap(([name, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((item): [string, string] => [name, textOf(item, `${pointer}/${name}`)]);
  });
}

function headersOf(headers: unknown): Record<string, string> {
  const entries = isObject(headers) ? Object.entries(headers) : [];
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const text = textOf(value, `/headers/${name}`);
      // Other characters are refused, because they could end the header line or be changed on the way to the host.
      const isLine = /^[\x20-\x7e\t]*$/.test(text) && text.length <= bounds.header;
      if (!isLine)
        throw new UnfitValueError(
          `/headers/${name}`,
          `is not a single line of up to ${bounds.header} ASCII characters`,
        );
      return [name.toLowerCase(), text.trim()];
    }),
  );
}

function bodyOf(body: unknown, contentType: string | undefined): string {
  const isJson = contentType === undefined || isJsonType(contentType);
  if (!isJson && isObject(body) && isFormType(contentType)) return within(formOf(body));
  if (!isJson && typeof body !== "string") {
    throw new UnfitValueError("/body", "is not a text, and its content-type is not JSON");
  }
  return within(isJson ? JSON.stringify(body) : String(body));
}

function formOf(body: object): string {
  const pairs = parametersOf(body, "/body").map(([name, value]): [string, string] => [
    name.toWellFormed(),
    value.toWellFormed(),
  ]);
  return String(new URLSearchParams(pairs));
}

function within(text: string): string {
  if (Buffer.byteLength(text) <= bounds.body) return text;
  throw new UnfitValueError("/body", `is longer than ${bounds.body} bytes`);
}

function textOf(value: unknown, pointer: string): string {
  const text = scalarText(value);
  if (text === undefined) throw new UnfitValueError(pointer, "has a value that is not a text, number, true or false");
  return text;
}

function isFormType(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType);
}

/** True if a media type is JSON: `application/json`, or a type that ends in `+json`. False for any other type. */
export function isJsonType(contentType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(contentType);
}
