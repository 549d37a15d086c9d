import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListAuditEventsRequestSchema } from "@svc/gen/admin";
import { oneOfParam, type SearchOf, searchReader, textParam, timeParam } from "../../shell/search-params.ts";
import { rangeNames } from "../../words/ranges.ts";
import { noSpan, spanRequest } from "../../words/spans.ts";

const params = {
  project: textParam,
  /** `admin`, `link`, `service`, or the id of a key or a job. */
  who: textParam,
  action: textParam,
  range: oneOfParam(rangeNames),
  /** From one time to another, in place of a range. */
  since: timeParam,
  until: timeParam,
};

/** The search parameters of the audit log. */
export type AuditSearch = SearchOf<typeof params>;

/** Reads the search parameters of the audit log. */
export const readAuditSearch: (raw: Record<string, unknown>) => AuditSearch = searchReader(params);

/** What filters the log, all taken away. */
export const noFilters: AuditSearch = { project: undefined, who: undefined, action: undefined, ...noSpan };

/** What is asked of the service for these parameters, `now` in milliseconds. */
export function auditRequest(search: AuditSearch, now: number): MessageInitShape<typeof ListAuditEventsRequestSchema> {
  const { project, who, action } = search;
  return {
    ...{ pageSize: 200, projectId: project ?? "", actor: who ?? "", action: action ?? "" },
    ...spanRequest(search, now),
  };
}

/** Whether anything is filtered, so that an empty list means no match rather than that nothing was done. */
export function isFiltered(search: AuditSearch): boolean {
  return Object.keys(noFilters).some((name) => search[name as keyof AuditSearch] !== undefined);
}
