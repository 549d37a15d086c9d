import { Button } from "../../ui/button.tsx";
import { anyOf, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { SpanChoice } from "../../ui/span-choice.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { callOutcomes } from "../../words/calls.ts";
import { type CallsSearch, isFiltered, noFilters } from "./filters.ts";

/** The filters of the ledger. */
export function CallFilters({ search, onChange }: { search: CallsSearch; onChange: (change: CallsSearch) => void }) {
  return (
    <>
      <TypedFilter
        label="Tool"
        placeholder="Tool, such as calendar.list_events"
        value={search.tool ?? ""}
        onChange={(tool) => onChange({ tool: tool || undefined })}
      />
      <TypedFilter
        label="Entity"
        short
        value={search.entity ?? ""}
        onChange={(entity) => onChange({ entity: entity || undefined })}
      />
      <Choice
        label="Outcome"
        value={search.outcome ?? ""}
        options={anyOf(callOutcomes)}
        onChange={(value) => onChange({ outcome: callOutcomes.find((known) => known === value) })}
      />
      <SpanChoice label="Made" span={search} onChange={onChange} />
      <Only what="job" id={search.job} onClear={() => onChange({ job: undefined })} />
      <Only what="account" id={search.account} onClear={() => onChange({ account: undefined })} />
      <Switch label="Live" on={search.live !== "off"} onChange={(on) => onChange({ live: on ? undefined : "off" })} />
      {isFiltered(search) && <ClearFilters onPress={() => onChange(noFilters)} />}
    </>
  );
}

/** A filter that a link set, such as that of a job's page: it can be taken away. */
function Only({ what, id, onClear }: { what: string; id: string | undefined; onClear: () => void }) {
  if (id === undefined) return null;
  return (
    <Button icon="cross" onPress={onClear}>
      Of {what} {id}
    </Button>
  );
}
