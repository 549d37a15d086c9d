import { AdminService, type AuditEvent } from "@svc/gen/admin";
import { useRows } from "../../calls/rows.ts";
import { anyOption, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { SpanChoice } from "../../ui/span-choice.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { type AuditSearch, isFiltered, noFilters } from "./filters.ts";

/** The filters of the audit log. What may be typed is suggested as far as `events`, those that are shown, tell it. */
export function AuditFilters({
  search,
  events,
  onChange,
}: {
  search: AuditSearch;
  events: readonly AuditEvent[];
  onChange: (change: AuditSearch) => void;
}) {
  const { rows } = useRows(AdminService.method.listProjects, { pageSize: 500 }, ({ projects }) => projects);
  const projects = rows.map(({ id, name }) => ({ value: id, words: name, note: id }));
  return (
    <>
      <Choice
        label="Project"
        value={search.project ?? ""}
        options={[anyOption, ...projects]}
        onChange={(project) => onChange({ project: project || undefined })}
      />
      <TypedFilter
        label="Who"
        placeholder="admin, or the id of a key or a job"
        suggestions={distinct(events.map(({ actor }) => actor))}
        value={search.who ?? ""}
        onChange={(who) => onChange({ who: who || undefined })}
      />
      <TypedFilter
        label="Action"
        placeholder="Action, such as AdminService.CreateApiKey"
        suggestions={distinct(events.map(({ action }) => action))}
        value={search.action ?? ""}
        onChange={(action) => onChange({ action: action || undefined })}
      />
      <SpanChoice label="Done" span={search} onChange={onChange} />
      {isFiltered(search) && <ClearFilters onPress={() => onChange(noFilters)} />}
    </>
  );
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}
