import { versions as older } from "./2025-11-25/versions.ts";
import { versions as newer } from "./2026-07-28/versions.ts";
import type { McpError } from "./errors.ts";

/** Every version of the protocol that is spoken, the latest first. */
export const spokenVersions: readonly string[] = [...newer, ...older];

/** Whether clients call the protocol so who begin with a handshake. */
export function isOlderVersion(version: unknown): boolean {
  return typeof version === "string" && older.includes(version);
}

/** Whether clients call the protocol so who say with every request what they speak. */
export function isNewerVersion(version: unknown): boolean {
  return typeof version === "string" && newer.includes(version);
}

/** The code of a version that is not spoken; the newer revision's, and told to older clients too, whose revisions have none. */
const unsupportedVersionCode = -32_022;

/** A version that is not spoken. */
export function unsupportedVersion(requested: string): McpError {
  const data = { supported: spokenVersions, requested: requested.slice(0, 80) };
  return { code: unsupportedVersionCode, message: "Unsupported protocol version", data };
}
