import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { SpanChoice } from "../../ui/span-choice.tsx";
import { Switch } from "../../ui/switch.tsx";
import { type EventsSearch, isFiltered, noFilters } from "./filters.ts";
import { TriggerChoice } from "./trigger-choice.tsx";

/** The filters of the list of events. */
export function EventFilters({ search, onChange }: { search: EventsSearch; onChange: (change: EventsSearch) => void }) {
  const ingest = useQuery(TriggersService.method.listIngestEndpoints, {}, { staleTime: Number.POSITIVE_INFINITY });
  const toolkits = ingest.data?.endpoints.map(({ toolkitSlug }) => ({ value: toolkitSlug, words: toolkitSlug })) ?? [];
  return (
    <>
      <Choice
        label="Toolkit"
        value={search.toolkit ?? ""}
        options={[{ value: "", words: "any" }, ...toolkits]}
        onChange={(toolkit) => onChange({ toolkit: toolkit || undefined, trigger: undefined })}
      />
      {search.toolkit !== undefined && (
        <TriggerChoice
          toolkit={search.toolkit}
          trigger={search.trigger}
          onChange={(trigger) => onChange({ trigger })}
        />
      )}
      <SpanChoice label="Received" span={search} onChange={onChange} />
      <Switch label="Live" on={search.live !== "off"} onChange={(on) => onChange({ live: on ? undefined : "off" })} />
      {isFiltered(search) && (
        <Button kind="quiet" icon="cross" onPress={() => onChange(noFilters)}>
          Clear filters
        </Button>
      )}
    </>
  );
}
