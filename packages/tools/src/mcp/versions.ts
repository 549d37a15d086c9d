import type { McpError } from "./request.ts";

/** Supported protocol versions that have a handshake, latest first. All of them offer the same service. */
export const olderVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
/** Supported protocol versions that clients declare with every request. */
export const newerVersions: readonly string[] = ["2026-07-28"];

/** Every supported version of the protocol, the latest first. */
export const spokenVersions: readonly string[] = [...newerVersions, ...olderVersions];

/** True if the version has a handshake. False if it is newer or unknown. */
export function isOlderVersion(version: unknown): boolean {
  return typeof version === "string" && olderVersions.includes(version);
}

/** True if clients declare the version with every request. False if it has a handshake or is unknown. */
export function isNewerVersion(version: unknown): boolean {
  return typeof version === "string" && newerVersions.includes(version);
}

/**
 * Error code for an unsupported version. The newer revision defines this code. Older clients get the same code, because their revisions
 * define none.
 */
const unsupportedVersionCode = -32_022;

/** Returns the error for an unsupported version. */
export function unsupportedVersion(requested: string): McpError {
  const data = { supported: spokenVersions, requested: requested.slice(0, 80) };
  return { code: unsupportedVersionCode, message: "Unsupported protocol version", data };
}
