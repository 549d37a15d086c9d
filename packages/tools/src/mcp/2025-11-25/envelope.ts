import type { McpError } from "../errors.ts";
import type { McpHeaders } from "../request.ts";
import { unsupportedVersion } from "../versions.ts";
import { versions } from "./versions.ts";

/** Judges what comes beside a message: the version that was agreed on, which clients of the first revisions do not send. */
export function envelopeFault({ version }: McpHeaders): McpError | undefined {
  return version === undefined || versions.includes(version) ? undefined : unsupportedVersion(version);
}
