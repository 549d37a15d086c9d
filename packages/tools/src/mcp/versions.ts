import type { McpError } from "./request.ts";

/** Supported protocol versions that have a handshake, latest first. All of them offer the same service. */
export const olderVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
/** Supported protocol versions that clients declare with every request. */
export const newerVersions: readonly string[] = ["2026-07-28"];

/** Every supported version of the protocol, the latest first. */
export const spokenVersions: readonly string[] = [...newerVersions, ...olderVersions];

/**
 * True if the given version of the MCP protocol is older: its clients begin with a handshake (the method `initialize`). False if the
 * version is newer or unknown.
 */
export function isOlderVersion(version: unknown): boolean {
  return typeof version === "string" && olderVersions.includes(version);
}

/**
 * True if this is a version of the protocol in which clients declare the version with every request. False for older versions, in which the
 * client declares the version once at the start, and for unknown versions.
 */
export function isNewerVersion(version: unknown): boolean {
  return typeof version === "string" && newerVersions.includes(version);
}

/**
 * Error code for a version of the MCP protocol that svc does not support. Newer versions of the protocol define this code; svc uses it for
 * all clients.
 */
const unsupportedVersionCode = -32_022;

/** Returns the error for a request with a version of the MCP protocol that svc does not support. */
export function unsupportedVersion(requested: string): McpError {
  const data = { supported: spokenVersions, requested: requested.slice(0, 80) };
  return { code: unsupportedVersionCode, message: "Unsupported protocol version", data };
}
