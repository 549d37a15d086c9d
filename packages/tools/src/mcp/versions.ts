import type { McpError } from "./request.ts";

/** What clients that begin with a handshake call the protocol they speak, the latest first. The service is the same in each of them. */
export const olderVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
/** What clients that say it with every request call the protocol they speak. */
export const newerVersions: readonly string[] = ["2026-07-28"];

/** Every version of the protocol that is spoken, the latest first. */
export const spokenVersions: readonly string[] = [...newerVersions, ...olderVersions];

/** Whether clients call the protocol so who begin with a handshake. */
export function isOlderVersion(version: unknown): boolean {
  return typeof version === "string" && olderVersions.includes(version);
}

/** Whether clients call the protocol so who say with every request what they speak. */
export function isNewerVersion(version: unknown): boolean {
  return typeof version === "string" && newerVersions.includes(version);
}

/** The code of a version that is not spoken; the newer revision's, and told to older clients too, whose revisions have none. */
const unsupportedVersionCode = -32_022;

/** A version that is not spoken. */
export function unsupportedVersion(requested: string): McpError {
  const data = { supported: spokenVersions, requested: requested.slice(0, 80) };
  return { code: unsupportedVersionCode, message: "Unsupported protocol version", data };
}
