import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { callOutcomes } from "../../words/calls.ts";
import { rangeNames, rangeWords } from "../../words/ranges.ts";
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
        options={[{ value: "", words: "any" }, ...callOutcomes.map((value) => ({ value, words: value }))]}
        onChange={(value) => onChange({ outcome: callOutcomes.find((known) => known === value) })}
      />
      <Choice
        label="Made"
        value={search.range ?? ""}
        options={[
          { value: "", words: "any time" },
          ...rangeNames.map((range) => ({ value: range, words: rangeWords(range) })),
        ]}
        onChange={(value) => onChange({ range: rangeNames.find((name) => name === value) })}
      />
      <Only what="job" id={search.job} onClear={() => onChange({ job: undefined })} />
      <Only what="account" id={search.account} onClear={() => onChange({ account: undefined })} />
      <Switch label="Live" on={search.live !== "off"} onChange={(on) => onChange({ live: on ? undefined : "off" })} />
      {isFiltered(search) && (
        <Button kind="quiet" icon="cross" onPress={() => onChange(noFilters)}>
          Clear filters
        </Button>
      )}
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
