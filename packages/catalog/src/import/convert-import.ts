import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImportReportSchema, ImportToolkitRequest } from "@svc/gen/catalog";
import { catalogFaults } from "../errors.ts";
import type { ImportedReport } from "./import-openapi.ts";
import type { ImportSource } from "./import-toolkit.ts";

/** Maximum entries of each of the lists `only`, `except` and `overrides` of an import request. */
const entriesMax = 1_000;

/** Returns the document and the options of an import request. Throws SOURCE_INVALID if it has no document, or a list is too long. */
export function importSource(request: ImportToolkitRequest): ImportSource {
  const { slug, category, openapi, only, except, overrides } = request;
  if (openapi === undefined) {
    throw catalogFaults.SOURCE_INVALID(
      "the request has no source",
      "Set openapi with the url or the text of a document.",
    );
  }
  for (const [name, list] of Object.entries({ only, except, overrides })) {
    if (list.length <= entriesMax) continue;
    throw catalogFaults.SOURCE_INVALID(`${name} has ${list.length} entries`, `Send at most ${entriesMax}.`, name);
  }
  const { url, document, server, auth, idempotencyHeader } = openapi;
  return {
    ...{ slug, category, url, document, server, auth, idempotencyHeader, only, except },
    overrides: overrides.map(({ match, name, class: access, description }) => ({
      match,
      name,
      class: access,
      description,
    })),
  };
}

/** Returns the report of an import in the form of the API. */
export function reportMessage(report: ImportedReport): MessageInitShape<typeof ImportReportSchema> {
  const { title, version, format, baseUrl, operations, classes, leftOut, notes, suggestions } = report;
  return {
    ...{ title, version, format, baseUrl, operations },
    readTools: classes.read,
    writeTools: classes.write,
    destructiveTools: classes.destructive,
    leftOut: [...leftOut],
    notes: [...notes],
    suggestions: [...suggestions],
  };
}
