import { isMethodOverride, isObject } from "@svc/core";
import type { FaultPath } from "../read/definition-error.ts";
import type { DefinitionFile } from "../read/definition-file.ts";

/**
 * Headers that frame a message, name its host or choose how the answer is packed: the sender writes them (RFC 9110, 7.2, 7.6.1,
 * 11.7 and 12.5.3; RFC 9112, 6).
 */
const ownHeaders = new Set(
  `accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer
  transfer-encoding upgrade`.split(/\s+/),
);

/** Says what is wrong with a name that a definition gives a request header, as [reason, cure]; undefined when nothing is. */
export function faultOfHeaderName(name: string): readonly [reason: string, cure: string] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return [`"${name}" is not a header name`, "use letters, digits, - and _"];
  if (ownHeaders.has(name.toLowerCase())) return [`"${name}" is written by the sender`, "remove it"];
  return faultOfFieldName(name);
}

/** Says what is wrong with the name of a field that a request carries: some servers take it for the method, and the call would be another than its class says. */
export function faultOfFieldName(name: string): readonly [reason: string, cure: string] | undefined {
  return isMethodOverride(name) ? [`"${name}" changes the method`, "write it as request.method"] : undefined;
}

/** Checks the names of headers, parameters and fields that requests carry. Records every fault. */
export function checkNames(
  file: DefinitionFile,
  path: FaultPath,
  {
    headers,
    query,
    body,
  }: { readonly headers?: object | undefined; readonly query?: object | undefined; readonly body?: unknown } = {},
): void {
  checkHeaderNames(file, [...path, "headers"], headers);
  for (const [place, fields] of Object.entries({ query, body: isObject(body) ? body : undefined })) {
    for (const name of Object.keys(fields ?? {})) {
      const fault = faultOfFieldName(name);
      if (fault !== undefined) file.fault([...path, place, name], ...fault);
    }
  }
}

function checkHeaderNames(file: DefinitionFile, path: FaultPath, headers: object | undefined): void {
  for (const name of Object.keys(headers ?? {})) {
    const fault = faultOfHeaderName(name);
    if (fault !== undefined) file.fault([...path, name], ...fault);
  }
}
