import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImportReportSchema, ImportToolkitRequest } from "@svc/gen/catalog";
import { catalogFaults } from "../errors.ts";
import type { ImportedReport } from "./import-openapi.ts";
import type { ImportSource } from "./import-toolkit.ts";
import { entriesMax, optionsBytesMax } from "./select.ts";

/**
 * Returns the source and the options of an import request. Throws SOURCE_INVALID if the request does not have exactly one source. Also
 * throws it if `only`, `except` or `overrides` is too long, or if all options together are too large.
 */
export function importSource(request: ImportToolkitRequest): ImportSource {
  const source = readSource(request);
  const { url: _url, ...options } = source;
  const bytes = Buffer.byteLength(JSON.stringify({ ...options, document: "" }));
  if (bytes <= optionsBytesMax) return source;
  const problem = `the options have ${bytes} bytes as JSON, and may have ${optionsBytesMax}`;
  throw catalogFaults.SOURCE_INVALID(
    problem,
    "Shorten the overrides: one entry with * can match many tools.",
    "overrides",
  );
}

function readSource(request: ImportToolkitRequest): ImportSource {
  const { slug, category, openapi, mcp, only, except, trust: isTrusted } = request;
  for (const [name, list] of Object.entries({ only, except, overrides: request.overrides })) {
    if (list.length <= entriesMax) continue;
    throw catalogFaults.SOURCE_INVALID(`${name} has ${list.length} entries`, `Send at most ${entriesMax}.`, name);
  }
  const overrides = request.overrides.map(({ match, name, class: access, description }) => ({
    match,
    name,
    class: access,
    description,
  }));
  const options = { slug, category, only, except, overrides, isTrusted };
  if (openapi !== undefined && mcp === undefined) {
    const { url, document, server, auth, idempotencyHeader } = openapi;
    if (request.watch && url === "") {
      const advice = "Set openapi.url, or leave watch out.";
      throw catalogFaults.SOURCE_INVALID("a document that is sent as text cannot be watched", advice, "watch");
    }
    const chosen = { ...options, server, auth, idempotencyHeader };
    return { kind: "openapi", ...chosen, names: {}, moved: {}, url, document, isWatched: request.watch };
  }
  if (mcp !== undefined && openapi === undefined) {
    const { url, header, listingAccountId } = mcp;
    return { kind: "mcp", ...options, url, header, listingAccountId, isTrial: request.dryRun };
  }
  throw catalogFaults.SOURCE_INVALID(
    mcp === undefined ? "the request has no source" : "the request has two sources",
    "Set one of openapi, mcp and shared.",
  );
}

/**
 * Returns the report of an import in the form of the API. `openKeys`: number of keys and grants (people's permissions for agents) that can
 * use the new tools immediately, because they are not limited to certain toolkits.
 */
export function reportMessage(report: ImportedReport, openKeys = 0): MessageInitShape<typeof ImportReportSchema> {
  const { title, version, format, baseUrl, foreignHost, operations, classes, leftOut, notes, suggestions } = report;
  return {
    ...{ title, version, format, baseUrl, foreignHost, operations },
    readTools: classes.read,
    writeTools: classes.write,
    destructiveTools: classes.destructive,
    leftOut: [...leftOut],
    notes: [...notes],
    suggestions: [...suggestions],
    openKeys,
  };
}
