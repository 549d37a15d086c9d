import type { FaultPath } from "./definition-error.ts";
import type { DefinitionFile } from "./definition-file.ts";

/**
 * Headers that frame a message, name its host or choose how the answer is packed: the sender writes them (RFC 9110, 7.2, 7.6.1,
 * 11.7 and 12.5.3; RFC 9112, 6).
 */
const ownHeaders = new Set(
  `accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer
  transfer-encoding upgrade`.split(/\s+/),
);

/** Headers that some servers take for the method: the call would be another than its class says. */
const methodHeaders = new Set(["x-http-method", "x-http-method-override", "x-method-override"]);

/** Says what is wrong with a name that a definition gives a request header, as [reason, cure]; undefined when nothing is. */
export function faultOfHeaderName(name: string): readonly [reason: string, cure: string] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return [`"${name}" is not a header name`, "use letters, digits, - and _"];
  if (ownHeaders.has(name.toLowerCase())) return [`"${name}" is written by the sender`, "remove it"];
  if (methodHeaders.has(name.toLowerCase())) return [`"${name}" changes the method`, "write it as request.method"];
  return undefined;
}

/** Checks the names of declared request headers. Records every fault. */
export function checkHeaderNames(file: DefinitionFile, path: FaultPath, headers: object | undefined): void {
  for (const name of Object.keys(headers ?? {})) {
    const fault = faultOfHeaderName(name);
    if (fault !== undefined) file.fault([...path, name], ...fault);
  }
}
